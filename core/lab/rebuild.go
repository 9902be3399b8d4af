package lab

import (
	"errors"
	"fmt"

	"pgrlab/core/knob"
	"pgrlab/core/replica"
	"pgrlab/core/run"
)

// rebuildSuffix is how the names end of data that is the recipe of what they name.
const rebuildSuffix = "-recipe"

// remake makes the D_syn of that name from its recipe in the run folder dir, or the
// one that is being generated as far as it was.
func (x *experiment) remake(name string, d run.Data, dir string) error {
	m := x.remade(name)
	if m == nil {
		return errors.New("a recipe is there, and nothing to make from it")
	}
	from, err := d.Open(dir)
	if err != nil {
		return err
	}
	defer from.Close()
	spec, err := replica.ReadRebuildSpec(from)
	if err != nil {
		return err
	}
	if x.tell != nil {
		x.tell(fmt.Sprintf("makes %s synthetic transitions again: they were saved as their recipe", knob.FormatCount(spec.Knobs.Samples)))
	}
	same := true
	if name == m.Named(replica.SectionFresh) {
		err = m.RebuildFresh(spec, x.position.I)
	} else {
		same, err = m.Rebuild(spec)
	}
	if err != nil {
		return fmt.Errorf("make it again from its recipe: %w", err)
	}
	if !same {
		x.remarks = append(x.remarks, "D_syn made again from its recipe is not what it was: from here on the run may differ from one without a break")
	}
	return nil
}

// remade finds the member that a recipe of that name is for.
func (x *experiment) remade(name string) *replica.Replica {
	for _, m := range x.members {
		if name == m.Named(replica.SectionSynthetic) && m.Synthetic != nil || name == m.Named(replica.SectionFresh) && m.Fresh != nil {
			return m
		}
	}
	return nil
}
