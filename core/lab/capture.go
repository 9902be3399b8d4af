package lab

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"io"
	"slices"
	"strings"

	"pgrlab/core/checkpoint"
	"pgrlab/core/experience"
	"pgrlab/core/replica"
	"pgrlab/core/run"
)

// logs returns the logs of all members; every member has equally many.
func (x *experiment) logs() (all []replica.Appended) {
	for _, m := range x.members {
		all = append(all, m.Appended()...)
	}
	return all
}

// rowsOf copies the rows of a log that were added after the first total ones.
func rowsOf(l replica.Appended, total uint64) run.LogRows {
	return run.LogRows{Name: l.Name, File: l.File, New: l.New, Rows: l.Rows.AppendSince(nil, total), After: total, Total: l.Rows.Total(), First: l.Rows.First()}
}

// aheadLeast is how many times more of a log has to be held than is handed over at a time: with the 32 MiB
// of aheadBytes half a gigabyte, which five minutes of a fast GPU make.
const aheadLeast = 16

// ahead copies rows that the writer may have before there is a checkpoint, if those of a member are so
// many bytes: its frames, which are most of a checkpoint. Other logs get none, because D_real of PPO
// forgets most of its rows between two checkpoints, and they need not be written. totals are the rows of
// each log that the writer has.
func (x *experiment) ahead(totals []uint64, bytes int) (all []run.LogRows) {
	each := len(totals) / len(x.members)
	due := func(m *replica.Replica) bool {
		return m.Observed.Ahead(totals[m.Index*each:][:each], aheadLeast*bytes) >= bytes
	}
	if !slices.ContainsFunc(x.members, due) {
		return nil
	}
	for i, l := range x.logs() {
		if _, frames := l.Rows.(*experience.Log); frames && due(x.members[i/each]) {
			all = append(all, rowsOf(l, totals[i]))
		} else {
			all = append(all, run.LogRows{After: totals[i], Total: totals[i]})
		}
	}
	return all
}

// copyTo copies the state of the run to c; totals says how many rows of each log are on the disk
// already.
func (x *experiment) copyTo(c *run.Capture, totals []uint64) error {
	for _, m := range x.members {
		if err := m.World.Failed(); err != nil {
			return fmt.Errorf("save run: its environment has failed: %w", err)
		}
	}
	c.Program, c.Device, c.Return = x.version, x.kernels(), x.lastReturn()
	instead := map[string]func(io.Writer) error{} // what is written in place of large parts
	for i, l := range x.logs() {
		instead[l.Name] = func(w io.Writer) error { return gob.NewEncoder(w).Encode(l.State) }
		c.Logs = append(c.Logs, rowsOf(l, totals[i]))
	}
	for _, m := range x.members {
		instead[m.Named(replica.SectionSynthetic)] = nil
		if m.Synthesis.FreshSpec != nil {
			instead[m.Named(replica.SectionFresh)] = nil
		}
		if _, has := m.Observed.Pinned(); has {
			instead[m.Named(replica.SectionPinned)] = nil
		}
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

// shared returns the large parts of a member, apart from D_real, that checkpoints share: D_syn
// itself or its recipe, the recipe of the D_syn being generated, and what is only pinned of what was
// observed.
func shared(m *replica.Replica) (all []run.Shared) {
	if made := m.Synthesis.Kept(); made != nil {
		s := run.Shared{Slot: m.Named(replica.SectionSynthetic), Of: made, Name: m.Named(replica.SectionSynthetic), File: replica.SectionSynthetic, Write: made.Save}
		if spec := m.Synthesis.Spec; spec != nil {
			s.Name, s.File = s.Name+checkpoint.RebuildSuffix, s.File+checkpoint.RebuildSuffix
			s.Write = func(w io.Writer) error { return spec.Of(made).Save(w) }
		}
		all = append(all, s)
	}
	if pinned, has := m.Observed.Pinned(); has {
		name := m.Named(replica.SectionPinned)
		all = append(all, run.Shared{Slot: name, Of: pinned.Key(), Name: name, File: replica.SectionPinned, Write: pinned.Save})
	}
	if spec := m.Synthesis.FreshSpec; spec != nil {
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

// kernels names the device without its number of threads, which does not affect the numbers.
func (x *experiment) kernels() string {
	name, _, _ := strings.Cut(x.device, ",")
	return name
}
