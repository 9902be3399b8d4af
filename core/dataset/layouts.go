package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pgrlab/core/dataset/hdf5"
)

// readFlat reads a file of arrays of all rows: an npz, or D4RL's HDF5.
func readFlat(from arrays, o Options) (*Dataset, error) {
	var p part
	var err error
	if p.obs, err = all(from, "observations"); err != nil {
		return nil, err
	}
	if p.act, err = all(from, "actions"); err != nil {
		return nil, err
	}
	if p.rewards, err = from.array("rewards"); err != nil {
		return nil, err
	}
	if from.has("next_observations") {
		if p.next, err = all(from, "next_observations"); err != nil {
			return nil, err
		}
	}
	if err := p.endings(from, o); err != nil {
		return nil, err
	}
	if p.next == nil && p.cuts == nil {
		return nil, errors.New("neither next_observations nor timeouts: it is not known where episodes were cut off: add one of them")
	}
	if from.has("episode") {
		if p.number, err = optional(from, "episode"); err != nil {
			return nil, err
		}
	}
	d, err := assemble("", []part{p}, o)
	if err == nil && from.has("action_low") && from.has("action_high") {
		if d.Low, err = bounds(from, "action_low", d.Act); err == nil {
			d.High, err = bounds(from, "action_high", d.Act)
		}
	}
	return d, err
}

// bounds are n numbers, those of one action.
func bounds(from arrays, name string, n int) ([]float64, error) {
	a, err := from.array(name)
	if err != nil {
		return nil, err
	}
	if len(a.shape) != 1 || a.rows() != uint64(n) {
		return nil, fmt.Errorf("%s has shape %v, want %d numbers", name, a.shape, n)
	}
	of, all := make([]float32, n), make([]float64, n)
	if err := a.read(of); err != nil {
		return nil, err
	}
	for i, x := range of {
		all[i] = float64(x)
	}
	return all, nil
}

// all is one array as a list.
func all(from arrays, name string) ([]array, error) {
	a, err := from.array(name)
	return []array{a}, err
}

func optional(from arrays, name string) (*array, error) {
	if name == "" {
		return nil, nil
	}
	a, err := from.array(name)
	return &a, err
}

// endings finds out where episodes end.
func (p *part) endings(from arrays, o Options) (err error) {
	ends, cuts := first(from, "terminals", "terminations"), first(from, "timeouts", "truncations")
	if ends == "" {
		switch dones := first(from, "dones"); {
		case dones == "":
			return errors.New("no terminals: it is not known where episodes end")
		case o.Done == DoneTerminal:
			ends = dones
		case o.Done == DoneTimeout:
			cuts = dones
		default:
			return errors.New("dones may be true ends or limits of time: say which with --done terminal or --done timeout")
		}
	}
	if p.ends, err = optional(from, ends); err != nil {
		return err
	}
	p.cuts, err = optional(from, cuts)
	return err
}

// numbered returns the names that are a prefix and a number, in the order of the numbers; nil:
// there are none.
func numbered(members map[string]*hdf5.Member, prefix string) []string {
	number := func(name string) (int, error) { return strconv.Atoi(strings.TrimPrefix(name, prefix)) }
	var names []string
	for name := range maps.Keys(members) {
		if n, err := number(name); err == nil && n >= 0 && strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		i, _ := number(a)
		j, _ := number(b)
		return cmp.Or(cmp.Compare(i, j), cmp.Compare(a, b))
	})
	return names
}

// readMinari reads episodes, each with one observation more than actions.
func readMinari(members map[string]*hdf5.Member, path string, o Options) (*Dataset, error) {
	meta, err := readMetadata(path)
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, name := range numbered(members, "episode_") {
		p, err := minariPart(name, members[name], meta, o)
		if err != nil {
			return nil, named(name, err)
		}
		if p.rewards.rows() > 0 { // one that was begun and not played
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return nil, errors.New("no episode in it has a step")
	}
	d, err := assemble("Minari", parts, o)
	if err == nil {
		d.Low, d.High = meta.actions.bounds()
		if len(d.Low) != d.Act {
			d.Low, d.High = nil, nil
		}
	}
	return d, err
}

func minariPart(name string, m *hdf5.Member, meta metadata, o Options) (p part, err error) {
	members, err := open(m)
	if err != nil {
		return p, err
	}
	p.name = name
	if p.obs, err = leaves(members, "observations", meta.observations); err != nil {
		return p, err
	}
	if p.act, err = leaves(members, "actions", meta.actions); err != nil {
		return p, err
	}
	if p.rewards, err = group(members).array("rewards"); err != nil {
		return p, err
	}
	return p, p.endings(group(members), o)
}

// open returns the members of a group.
func open(m *hdf5.Member) (map[string]*hdf5.Member, error) {
	o, err := m.Open()
	if err != nil {
		return nil, err
	}
	return o.Members()
}

// leaves returns the arrays of a space, in its order.
func leaves(members map[string]*hdf5.Member, name string, s space) ([]array, error) {
	if members[name] == nil {
		return nil, named(name, errors.New("there is none"))
	}
	o, err := members[name].Open()
	if err != nil {
		return nil, named(name, err)
	}
	if s.kind == "Discrete" || s.kind == "MultiDiscrete" || s.kind == "MultiBinary" || s.kind == "Text" {
		return nil, refuse("%s are of a space %s, and data are of numbers", name, s.kind)
	}
	if !o.Group() {
		a, err := fromObject(name, o)
		return []array{a}, err
	}
	if len(s.parts) == 0 {
		return nil, refuse("%s has parts, and metadata.json, which has their order, is not beside the file", name)
	}
	inner, err := o.Members()
	if err != nil {
		return nil, named(name, err)
	}
	var all []array
	for _, p := range s.parts {
		some, err := leaves(inner, p.name, p.space)
		if err != nil {
			return nil, named(name, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// readRobomimic reads demonstrations. Observations are the arrays of numbers in obs, by their
// names; images are left out.
func readRobomimic(members map[string]*hdf5.Member, o Options) (*Dataset, error) {
	var parts []part
	for _, name := range numbered(members, "demo_") {
		p, err := robomimicPart(name, members[name], o)
		if err != nil {
			return nil, named(name, err)
		}
		parts = append(parts, p)
	}
	return assemble("robomimic", parts, o)
}

func robomimicPart(name string, m *hdf5.Member, o Options) (p part, err error) {
	members, err := open(m)
	if err != nil {
		return p, err
	}
	p.name = name
	if members["obs"] == nil {
		return p, errors.New("obs: there is none")
	}
	if p.obs, err = states(members["obs"]); err != nil {
		return p, named("obs", err)
	}
	if members["next_obs"] != nil {
		if p.next, err = states(members["next_obs"]); err != nil {
			return p, named("next_obs", err)
		}
	}
	if p.act, err = all(group(members), "actions"); err != nil {
		return p, err
	}
	if p.rewards, err = group(members).array("rewards"); err != nil {
		return p, err
	}
	return p, p.endings(group(members), o)
}

// states returns the arrays of a group that are no images, by their names.
func states(m *hdf5.Member) ([]array, error) {
	members, err := open(m)
	if err != nil {
		return nil, err
	}
	var found []array
	for _, name := range slices.Sorted(maps.Keys(members)) {
		a, err := group(members).array(name)
		if err != nil {
			return nil, err
		}
		if len(a.shape) <= 2 {
			found = append(found, a)
		}
	}
	if len(found) == 0 {
		return nil, refuse("only images, and data are of states")
	}
	return found, nil
}
