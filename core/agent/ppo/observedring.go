package ppo

import (
	"encoding/binary"
	"fmt"
	"io"

	"pgrlab/core/replay"
)

// observedRing holds transitions with the task's rewards and, if there is a bonus, also the
// observed rewards, which include it.
type observedRing struct {
	*replay.Ring
	rewards []float32 // the observed ones, by slot; nil if there is no bonus
}

func newObservedRing(c Config, capacity int) *observedRing {
	r := &observedRing{Ring: replay.NewRing(c.Shape, capacity)}
	r.Annotate()
	if c.Bonus {
		r.rewards = make([]float32, capacity)
	}
	return r
}

func (r *observedRing) add(t replay.Transition, observed float32) {
	r.Add(t)
	if r.rewards != nil {
		r.rewards[r.Newest(0)] = observed
	}
}

// addFrom adds the transition in a slot of another ring.
func (r *observedRing) addFrom(from *observedRing, slot int) {
	r.AddFrom(from.Ring, slot)
	if r.rewards != nil {
		r.rewards[r.Newest(0)] = from.rewards[slot]
	}
}

// observedReward is the observed reward of the transition in a slot.
func (r *observedRing) observedReward(slot int) float32 {
	if r.rewards != nil {
		return r.rewards[slot]
	}
	return r.Row(slot)[r.Shape().Obs+r.Shape().Act]
}

// rowBytes is how many bytes a transition takes in a file.
func (r *observedRing) rowBytes() int {
	if r.rewards != nil {
		return r.RowBytes() + 4
	}
	return r.RowBytes()
}

// save writes the ring, then the observed rewards if there is a bonus.
func (r *observedRing) save(w io.Writer) error {
	if err := r.Save(w); err != nil || r.rewards == nil {
		return err
	}
	if err := binary.Write(w, binary.LittleEndian, r.rewards[:r.Len()]); err != nil {
		return fmt.Errorf("save rewards: %w", err)
	}
	return nil
}

func (r *observedRing) load(in io.Reader) error {
	if err := r.Load(in); err != nil || r.rewards == nil {
		return err
	}
	if err := binary.Read(in, binary.LittleEndian, r.rewards[:r.Len()]); err != nil {
		r.Clear()
		return fmt.Errorf("load rewards: %w", err)
	}
	return nil
}
