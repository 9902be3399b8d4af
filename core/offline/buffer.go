package offline

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"pgrlab/core/checkpoint"
	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/replay"
	"pgrlab/core/replica"
	"pgrlab/core/run"
	"pgrlab/core/task"
	"pgrlab/core/version"
)

// Buffer is D_real or D_syn of a saved run.
type Buffer struct {
	ring  *replay.Ring
	met   bool    // each row was met in an env step, in their order
	mixed float64 // see Mixed
}

// Mixed is the share of a mixed D_syn that its newest generation has made, the newest rows; 0: D_syn is
// whole.
func (b Buffer) Mixed() float64 { return b.mixed }

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
	b := Buffer{met: kind == replica.SectionReal && !s.Config.Fills()}
	err := s.Config.Validate()
	if err == nil {
		err = checkpoint.Contained(func() (err error) { b.ring, b.mixed, err = s.ring(task, member, kind); return err })
	}
	if err != nil {
		return Buffer{}, fmt.Errorf("read transitions of %s: %w", s.Dir, err)
	}
	return b, nil
}

func (s Run) ring(task task.Task, member int, kind string) (*replay.Ring, float64, error) {
	path, err := s.checkpoint()
	if err != nil {
		return nil, 0, err
	}
	c, err := run.LoadCheckpoint(path, s.Config.Limit(task))
	if err != nil {
		return nil, 0, fmt.Errorf("%s %w", path, err)
	}
	loop, ok := c.Section(checkpoint.SectionLoop)
	saved, err := checkpoint.ReadLoop(bytes.NewReader(loop))
	if !ok || err != nil {
		return nil, 0, version.ErrOther
	}
	if member < 0 || member >= len(saved.Members) {
		return nil, 0, fmt.Errorf("it has no member %d, but %d of them, from 0", member, len(saved.Members))
	}
	name := fmt.Sprintf("%d/%s", member, kind)
	for _, d := range c.Data {
		if d.Name != name {
			continue
		}
		if err := d.Verify(s.Dir); err != nil {
			return nil, 0, err
		}
		from, err := d.Open(s.Dir)
		if err != nil {
			return nil, 0, err
		}
		defer from.Close()
		shape := s.Config.Rows(task)
		if kind == replica.SectionSynthetic {
			if n := saved.Members[member].Synthetic; n < 1 || n > s.Config.Buffer {
				return nil, 0, errors.New("its checkpoint contradicts itself about synthetic transitions")
			}
			ring := replay.NewRing(shape, saved.Members[member].Synthetic)
			if err := ring.Load(from); err != nil {
				return nil, 0, err
			}
			return s.mixed(c, saved.Members[member], ring, fmt.Sprintf("%d/%s", member, replica.SectionFresh))
		}
		state, _ := c.Section(name)
		ring := replay.NewRing(shape, s.Config.Buffer)
		return ring, 0, checkpoint.LoadReal(ring, state, from, d)
	}
	if slices.ContainsFunc(c.Data, func(d run.Data) bool { return d.Name == name+checkpoint.RebuildSuffix }) {
		return nil, 0, errLean
	}
	if kind == replica.SectionSynthetic {
		return nil, 0, fmt.Errorf("it had no synthetic transitions at step %s", knob.FormatCount(c.Step))
	}
	return nil, 0, errors.New("its checkpoint holds no real transitions")
}

var errLean = errors.New("of its synthetic transitions only the recipe was saved (--lean): resume it without --lean and export after the next generation")

// mixed returns D_syn with what the generation under way, in the section of that name, has in force of it,
// and the share of its newest generation.
func (s Run) mixed(c *run.Checkpoint, saved replica.Saved, before *replay.Ring, name string) (*replay.Ring, float64, error) {
	n := saved.InForce
	if n == 0 {
		return before, saved.Share, nil
	}
	content, ok := c.Section(name)
	if !ok {
		return nil, 0, errLean
	}
	if err := config.Between("transitions of D_syn", saved.Fresh, 1, s.Config.Buffer); err != nil {
		return nil, 0, err
	}
	fresh := replay.NewRing(before.Shape(), saved.Fresh)
	if err := fresh.Load(bytes.NewReader(content)); err != nil {
		return nil, 0, err
	}
	if err := config.Between("transitions in force", n, 0, fresh.Len()); err != nil {
		return nil, 0, err
	}
	return replica.Mixed(before, fresh, n), saved.Share, nil
}
