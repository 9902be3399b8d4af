package lab

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"io"
	"strings"

	"pgrlab/core/checkpoint"
	"pgrlab/core/replica"
	"pgrlab/core/run"
)

// copyTo copies what the run is; totals are the rows of each member's D_real that are on
// the disk already.
func (x *experiment) copyTo(c *run.Capture, totals []uint64) error {
	for _, m := range x.members {
		if err := m.Failed(); err != nil {
			return fmt.Errorf("save run: its environment has failed: %w", err)
		}
	}
	c.Program, c.Device, c.Return = x.version, x.kernels(), x.lastReturn()
	instead := map[string]func(io.Writer) error{} // of large parts
	for i, m := range x.members {
		state := m.Real.State()
		instead[m.Named(replica.SectionReal)] = func(w io.Writer) error { return gob.NewEncoder(w).Encode(state) }
		instead[m.Named(replica.SectionSynthetic)] = nil
		if m.FreshSpec != nil {
			instead[m.Named(replica.SectionFresh)] = nil
		}
		c.Logs = append(c.Logs, run.LogRows{
			Name: m.Named(replica.SectionReal), Rows: m.Real.AppendSince(nil, totals[i]), Total: m.Real.Total(),
		})
		c.Shared = append(c.Shared, shared(m)...)
	}
	return x.saveSections(func(name string, save func(io.Writer) error) error {
		if other, is := instead[name]; is {
			if save = other; save == nil {
				return nil
			}
		}
		var b bytes.Buffer
		err := save(&b)
		c.Sections = append(c.Sections, run.Section{Name: name, Content: b.Bytes()})
		return err
	})
}

// shared are the large parts of a member that checkpoints share, beside D_real: D_syn as
// it is or as its recipe, and the recipe of the one being generated.
func shared(m *replica.Replica) (all []run.Shared) {
	if made := m.Synthetic; made != nil {
		s := run.Shared{Slot: m.Named(replica.SectionSynthetic), Of: made, Name: m.Named(replica.SectionSynthetic), File: replica.SectionSynthetic, Write: made.Save}
		if spec := m.Spec; spec != nil {
			s.Name, s.File = s.Name+checkpoint.RebuildSuffix, s.File+checkpoint.RebuildSuffix
			s.Write = func(w io.Writer) error { return spec.Of(made).Save(w) }
		}
		all = append(all, s)
	}
	if spec := m.FreshSpec; spec != nil {
		name := replica.SectionFresh + checkpoint.RebuildSuffix
		all = append(all, run.Shared{Slot: m.Named(replica.SectionFresh), Of: spec, Name: m.Named(name), File: name, Write: spec.Save})
	}
	return all
}

// lastReturn is the mean of the members' last evaluations; nil before the first.
func (x *experiment) lastReturn() *run.Float {
	var mean run.Float
	for _, m := range x.members {
		if m.LastReturn == nil {
			return nil
		}
		mean += run.Float(*m.LastReturn / float64(len(x.members)))
	}
	return &mean
}

// kernels is the device without its number of threads, which is no part of the
// numbers.
func (x *experiment) kernels() string {
	name, _, _ := strings.Cut(x.device, ",")
	return name
}
