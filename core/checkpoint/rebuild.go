package checkpoint

import (
	"errors"
	"fmt"

	"pgrlab/core/knob"
	"pgrlab/core/replica"
	"pgrlab/core/run"
)

// RebuildSuffix is the suffix of the name of data that is the recipe of what the rest of the
// name denotes.
const RebuildSuffix = "-recipe"

// remake generates the D_syn of that name again from its recipe in the run folder dir. A
// D_syn that was still being generated is made as far as it was.
func (i *Into) remake(name string, d run.Data, dir string) (remarks []string, err error) {
	m := i.remade(name)
	if m == nil {
		return nil, errors.New("a recipe is there, and nothing to make from it")
	}
	from, err := d.Open(dir)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	spec, err := replica.ReadRebuildSpec(from)
	if err != nil {
		return nil, err
	}
	if i.Say != nil {
		i.Say(fmt.Sprintf("makes %s synthetic transitions again: they were saved as their recipe", knob.FormatCount(spec.Knobs.Samples)))
	}
	same := true
	if name == m.Named(replica.SectionFresh) {
		err = m.Synthesis.RebuildFresh(spec, i.calls)
	} else {
		same, err = m.Synthesis.Rebuild(spec)
	}
	if err != nil {
		return nil, fmt.Errorf("make it again from its recipe: %w", err)
	}
	if !same {
		remarks = append(remarks, "D_syn made again from its recipe is not what it was: from here on the run may differ from one without a break")
	}
	return remarks, nil
}

// remade returns the member to which a recipe of that name belongs.
func (i *Into) remade(name string) *replica.Replica {
	for _, m := range i.Members {
		if name == m.Named(replica.SectionSynthetic) && m.Synthesis.Kept() != nil || name == m.Named(replica.SectionFresh) && m.Synthesis.Fresh != nil {
			return m
		}
	}
	return nil
}
