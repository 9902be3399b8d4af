package experience

import (
	"encoding/binary"
	"fmt"
	"io"

	"pgrlab/core/replay"
)

// Chosen are the env steps that D_real is made of: the newest, but with earlier ones that have a
// reward in the place of the oldest without one, so that their number does not depend on what was
// met. Those with a reward are pinned. What is read of numbers is kept until the next choice; frames
// are forgotten with the log's.
type Chosen struct {
	log          *Log   // nil for a learner that only acts
	looks        int    // of each copy, the newest, that the log held for the learner at first
	window, keep int    // env steps to choose from; transitions with a reward that are kept longer
	steps        uint64 // env steps whose rewards were looked at
	kept         []Ref  // with a reward, the oldest first: those of the window, and at most keep that have left it
	dropped      uint64 // how many there were before them

	rows  []Ref
	first uint64 // the number of the first row among all that were ever kept
	old   int    // how many rows, the first ones, had left the window
}

// NewChosen returns a choice of a log's newest window env steps and of keep transitions that have left
// it.
func NewChosen(l *Log, window, keep int) *Chosen {
	c := &Chosen{log: l, window: window, keep: keep}
	if l != nil {
		c.looks = l.room()
	}
	return c
}

// Follow pins the transitions with a reward since the last call, which must be fewer env steps ago than
// the log holds.
func (c *Chosen) Follow() {
	for now := c.log.Steps(); c.steps < now; c.steps++ {
		for copied := range c.log.reels {
			after := c.log.After(c.steps, copied)
			if m, held := c.log.Met(after); held && c.keep > 0 && m.Earned > 0 {
				c.log.PinStep(after)
				c.kept = append(c.kept, after)
			}
		}
	}
	for drop := c.gone() - c.keep; drop > 0; drop-- {
		c.log.UnpinStep(c.kept[0])
		c.kept, c.dropped = c.kept[1:], c.dropped+1
	}
}

// gone is how many of those with a reward have left the window.
func (c *Chosen) gone() (n int) {
	for n < len(c.kept) {
		if k, _ := c.log.at(c.kept[n]); k.arrival.Step+uint64(c.window) >= c.steps {
			break
		}
		n++
	}
	return n
}

// Choose chooses at most that many transitions and returns how many.
func (c *Chosen) Choose(most int) int {
	c.Follow()
	c.pin(c.log.UnpinStep)
	copies := len(c.log.reels)
	n := min(most, copies*int(min(c.steps, uint64(c.window))))
	gone := c.gone()
	left := min(n, gone) // how many without a reward have to make room
	var newest []Ref
	for i := c.steps*uint64(copies) - uint64(n); i < c.steps*uint64(copies); i++ {
		after := c.log.After(i/uint64(copies), int(i%uint64(copies)))
		if m, _ := c.log.Met(after); left > 0 && m.Earned <= 0 {
			left--
			continue
		}
		newest = append(newest, after)
	}
	old := c.kept[gone-min(n, gone)+left : gone] // fewer fit if too few of the newest are without a reward
	c.rows = append(append(c.rows[:0], old...), newest...)
	c.old, c.first = len(old), c.dropped+uint64(gone-len(old))
	c.pin(c.log.PinStep)
	return len(c.rows)
}

// pin pins or unpins what is kept until the next choice.
func (c *Chosen) pin(step func(after Ref)) {
	if c.log.shape.Bytes > 0 {
		return
	}
	for _, after := range c.rows {
		step(after)
	}
}

// Len is how many were chosen last.
func (c *Chosen) Len() int { return len(c.rows) }

// Kept is how many have a reward and are pinned.
func (c *Chosen) Kept() int { return len(c.kept) }

// Row returns one of those that were chosen last. It is an error if it has been forgotten.
func (c *Chosen) Row(i int) (Met, error) {
	if uint(i) >= uint(len(c.rows)) {
		return Met{}, fmt.Errorf("row %d of %d that D_real was made of", i, len(c.rows))
	}
	c.Follow()
	after := c.rows[i]
	m, held := c.log.Met(after)
	switch {
	case i < c.old && c.log.shape.Bytes > 0 && c.first+uint64(i) < c.dropped:
		return m, fmt.Errorf("row %d: its frames have been forgotten", i)
	case !held || i >= c.old && c.log.shape.Bytes > 0 && c.left(after):
		return m, fmt.Errorf("row %d: its frames have been forgotten: a larger buffer keeps them longer", i)
	}
	return m, nil
}

// left says whether an env step has left what the log would hold without other readers.
func (c *Chosen) left(after Ref) bool {
	r := &c.log.reels[after.Copy]
	k, _ := c.log.at(after)
	return after.Before().Number < max(r.first, r.total-min(r.total, uint64(c.looks))) && k.arrival.Step+uint64(c.window) < r.steps
}

// Seen writes one of those that were chosen last to dst. It is an error if it has been forgotten.
func (c *Chosen) Seen(dst *replay.FrameRow, i int, gamma float64) error {
	m, err := c.Row(i)
	if err != nil {
		return err
	}
	if c.log.shape.Bytes > 0 {
		dst.Stack[0], dst.Next[0] = m.Seen.Frame, m.Next.Frame
	}
	dst.Obs, dst.NextObs = m.Seen.Numbers, m.Next.Numbers
	dst.Action, dst.Return, dst.Discount, dst.Respawned = m.Action, m.Earned, float32(gamma), m.Note.Respawned
	if m.End == Terminated {
		dst.Discount = 0
	}
	return nil
}

// chosenHead begins a saved Chosen; the kept and the rows follow.
type chosenHead struct{ Steps, Dropped, Kept, First, Old, Rows uint64 }

// Save writes which transitions are kept and chosen.
func (c *Chosen) Save(w io.Writer) error {
	if c.log != nil {
		c.Follow()
	}
	head := chosenHead{c.steps, c.dropped, uint64(len(c.kept)), c.first, uint64(c.old), uint64(len(c.rows))}
	for _, part := range []any{head, c.kept, c.rows} {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return fmt.Errorf("save what D_real is made of: %w", err)
		}
	}
	return nil
}

// Load reads what Save wrote, after the log has been loaded, for that many copies.
func (c *Chosen) Load(r io.Reader, copies int) error {
	var h chosenHead
	if err := binary.Read(r, binary.LittleEndian, &h); err != nil {
		return fmt.Errorf("load what D_real is made of: %w", err)
	}
	most := uint64(copies*c.window + c.keep)
	if h.Kept > most || h.Rows > most || h.Old > h.Rows || h.First+h.Old > h.Dropped+h.Kept || c.log != nil && (h.Steps > c.log.Steps() || !c.log.Holds(h.Steps-min(h.Steps, uint64(c.window)))) {
		return fmt.Errorf("load what D_real is made of: %+v in a window of %d env steps that keeps %d", h, c.window, c.keep)
	}
	c.steps, c.dropped, c.first, c.old = h.Steps, h.Dropped, h.First, int(h.Old)
	c.kept, c.rows = make([]Ref, h.Kept), make([]Ref, h.Rows)
	for _, part := range []any{c.kept, c.rows} {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return fmt.Errorf("load what D_real is made of: %w", err)
		}
	}
	if c.log == nil {
		return nil
	}
	for _, after := range c.kept {
		c.log.PinStep(after)
	}
	c.pin(c.log.PinStep)
	return nil
}
