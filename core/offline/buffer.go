package offline

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"pgrlab/core/checkpoint"
	"pgrlab/core/knob"
	"pgrlab/core/replay"
	"pgrlab/core/replica"
	"pgrlab/core/run"
	"pgrlab/core/task"
	"pgrlab/core/version"
)

// Buffer is D_real or D_syn of a saved run.
type Buffer struct {
	ring *replay.Ring
	met  bool // each row was met in an env step, in their order
}

// Len is the number of transitions.
func (b Buffer) Len() int { return b.ring.Len() }

// Sizes are the sizes of observations and actions.
func (b Buffer) Sizes() (obs, act int) { return b.ring.Shape().Obs, b.ring.Shape().Act }

// Row is transition i, oldest first, as [s, a, r, s', d].
func (b Buffer) Row(i int) []float32 { return b.ring.Row(b.ring.Newest(b.ring.Len() - 1 - i)) }

// First is how many older transitions the run has met, of which the buffer holds none any more. It is
// false if the transitions follow no course of time, as generated ones, and those that a learner makes
// of several steps or of latents.
func (b Buffer) First() (first int, ok bool) {
	return int(b.ring.Total()) - b.ring.Len(), b.met
}

// RealBuffer reads D_real of a member at the checkpoint.
func (s Run) RealBuffer(task task.Task, member int) (Buffer, error) {
	return s.buffer(task, member, replica.SectionReal)
}

// SyntheticBuffer reads D_syn of a member at the checkpoint.
func (s Run) SyntheticBuffer(task task.Task, member int) (Buffer, error) {
	return s.buffer(task, member, replica.SectionSynthetic)
}

func (s Run) buffer(task task.Task, member int, kind string) (Buffer, error) {
	var ring *replay.Ring
	err := s.Config.Validate()
	if err == nil {
		err = checkpoint.Contained(func() (err error) { ring, err = s.ring(task, member, kind); return err })
	}
	if err != nil {
		return Buffer{}, fmt.Errorf("read transitions of %s: %w", s.Dir, err)
	}
	return Buffer{ring, kind == replica.SectionReal && !s.Config.Fills()}, nil
}

func (s Run) ring(task task.Task, member int, kind string) (*replay.Ring, error) {
	path, err := s.checkpoint()
	if err != nil {
		return nil, err
	}
	c, err := run.LoadCheckpoint(path, s.Config.Limit(task))
	if err != nil {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	loop, ok := c.Section(checkpoint.SectionLoop)
	saved, err := checkpoint.ReadLoop(bytes.NewReader(loop))
	if !ok || err != nil {
		return nil, version.ErrOther
	}
	if member < 0 || member >= len(saved.Members) {
		return nil, fmt.Errorf("it has no member %d, but %d of them, from 0", member, len(saved.Members))
	}
	name := fmt.Sprintf("%d/%s", member, kind)
	for _, d := range c.Data {
		if d.Name != name {
			continue
		}
		if err := d.Verify(s.Dir); err != nil {
			return nil, err
		}
		from, err := d.Open(s.Dir)
		if err != nil {
			return nil, err
		}
		defer from.Close()
		shape := s.Config.Rows(task)
		if kind == replica.SectionSynthetic {
			if n := saved.Members[member].Synthetic; n < 1 || n > s.Config.Buffer {
				return nil, errors.New("its checkpoint contradicts itself about synthetic transitions")
			}
			ring := replay.NewRing(shape, saved.Members[member].Synthetic)
			return ring, ring.Load(from)
		}
		state, _ := c.Section(name)
		ring := replay.NewRing(shape, s.Config.Buffer)
		return ring, checkpoint.LoadReal(ring, state, from, d)
	}
	if slices.ContainsFunc(c.Data, func(d run.Data) bool { return d.Name == name+checkpoint.RebuildSuffix }) {
		return nil, errors.New("of its synthetic transitions only the recipe was saved (--lean): resume it without --lean and export after the next generation")
	}
	if kind == replica.SectionSynthetic {
		return nil, fmt.Errorf("it had no synthetic transitions at step %s", knob.FormatCount(c.Step))
	}
	return nil, errors.New("its checkpoint holds no real transitions")
}
