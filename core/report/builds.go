package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// cellKey is what the runs of a cell have in common.
type cellKey struct{ Task, Method, Scale, Variant, Touched string }

// cellNames returns the function that names the cell of a run. Where a seed was run by two builds, versions
// or devices, with other returns, neither is to be taken for the other, nor both for two seeds: then each
// build has a cell of its own, whose variant says which, and said has a sentence for the cell.
func cellNames(runs []*Run) (of func(r *Run) cellKey, said map[cellKey]string) {
	settings := settingsNames(runs)
	plain := func(r *Run) cellKey { return cellKey{r.Task, r.Method, r.Scale, settings(r), r.touched()} }
	cells := map[cellKey][]Seed{}
	for _, r := range runs {
		for i, m := range r.Members {
			cells[plain(r)] = append(cells[plain(r)], Seed{m.Seed, r, i})
		}
	}
	apart, why := map[cellKey][]Seed{}, map[cellKey]string{}
	for k, seeds := range cells {
		if text := byOtherBuilds(seeds); text != "" {
			apart[k], why[k] = seeds, text
		}
	}
	said = map[cellKey]string{}
	of = func(r *Run) cellKey {
		k := plain(r)
		text := why[k]
		if text == "" {
			return k
		}
		k.Variant = strings.TrimPrefix(k.Variant+", "+r.build(apart[k]), ", ")
		said[k] = text
		return k
	}
	return of, said
}

// byOtherBuilds names the seeds that two builds ran with other returns; "": there are none.
func byOtherBuilds(seeds []Seed) string {
	var all []uint64
	for i, s := range seeds {
		for _, o := range seeds[:i] {
			if s.Seed == o.Seed && s.Run.lineage() == o.Run.lineage() && !s.Run.sameBuild(o.Run) && s.unlike(o) != "" {
				all = append(all, s.Seed)
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	all = slices.Compact(all)
	var numbers []string
	for _, n := range all {
		numbers = append(numbers, fmt.Sprint(n))
	}
	return fmt.Sprintf("builds whose returns differ ran %s %s: each build has a row of its own", plural(len(all), "seed"), strings.Join(numbers, ", "))
}

// sameBuild says whether two runs are of one version and one device.
func (r *Run) sameBuild(o *Run) bool {
	return sameVersion(r.Version, o.Version) && r.Devices() == o.Devices()
}

// commit is a version that is one, with seven digits or more.
var commit = regexp.MustCompile(`^[0-9a-f]{7,}$`)

// sameVersion says whether two versions are one, or one commit in a shorter and a longer form.
func sameVersion(v, w string) bool {
	short, long := v, w
	if len(short) > len(long) {
		short, long = long, short
	}
	return short == long || commit.MatchString(short) && commit.MatchString(long) && strings.HasPrefix(long, short)
}

// build names the build of a run by what differs among the runs of some seeds: the version, in its shortest
// form among them, the device, or both.
func (r *Run) build(seeds []Seed) string {
	version, versions, devices := r.Version, false, false
	for _, s := range seeds {
		switch v := s.Run.Version; {
		case !sameVersion(r.Version, v):
			versions = true
		case len(v) < len(version):
			version = v
		}
		devices = devices || s.Run.Devices() != r.Devices()
	}
	var parts []string
	if versions {
		parts = append(parts, "build "+version)
	}
	if devices {
		parts = append(parts, "on "+r.Devices())
	}
	return strings.Join(parts, " ")
}

// apart says of which rows builds have rows of their own, and why.
func (t *Task) apart() (all []string) {
	for _, r := range t.Rows {
		if r.cell.Apart == "" {
			continue
		}
		if text := fmt.Sprintf("%s on %s: %s", r.Method, t.Task, r.cell.Apart); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}
