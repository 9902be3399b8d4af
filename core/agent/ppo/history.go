package ppo

import (
	"fmt"
	"io"

	"pgrlab/core/agent"
	"pgrlab/core/replay"
)

// history holds the transitions that D_real is made from, as the environment gave them.
type history interface {
	// observe adds an env step.
	observe(e *agent.Experience)
	// list chooses the transitions that D_real is made from: the newest, but with earlier ones
	// that have a reward in the place of the oldest without one, so that their number does not
	// depend on what was met. It returns that number.
	list(from *agent.BatchSource) (int, error)
	// listed is how many were chosen last. read returns one of them, valid until the next read.
	listed() int
	read(i int, from *agent.BatchSource) (met, error)
	// recall writes what row number i of D_real was made from; an error says that it is no longer
	// known.
	recall(dst *replay.FrameRow, from agent.Frames, i int) error
	save(w io.Writer) error
	load(r io.Reader) error
	// unfilled is how many bytes of numbers, and of frames, a file at the end of the run has in
	// addition to those of now.
	unfilled() (numbers, frames int64)
}

// met is a transition.
type met struct {
	seen, next observed // one each
	action     []float32
	earned     float32 // the task's reward
	reward     float32 // the observed reward, including the bonus if there is one
	note       replay.Note
}

// rowHistory keeps transitions of observations as rows.
type rowHistory struct {
	config   Config
	met      *observedRing // the newest
	rewarded *observedRing // those with a reward that have left met; nil if none are kept
	behind   *observedRing // those that D_real was last made from, in its slots
}

func newRowHistory(c Config) *rowHistory {
	h := &rowHistory{config: c, met: newObservedRing(c, c.Window*c.rows()), behind: newObservedRing(c, c.Window*c.rows())}
	if c.KeepRewarded > 0 {
		h.rewarded = newObservedRing(c, c.KeepRewarded)
	}
	return h
}

func (h *rowHistory) observe(e *agent.Experience) {
	o, a := h.config.Shape.Obs, h.config.Shape.Act
	for i := range e.Copies {
		if h.rewarded != nil && h.met.Len() == h.met.Cap() {
			if oldest := h.met.Newest(h.met.Len() - 1); h.met.Row(oldest)[o+a] > 0 {
				h.rewarded.addFrom(h.met, oldest)
			}
		}
		h.met.add(replay.Transition{
			Obs: e.Obs[i*o : (i+1)*o], Act: e.Actions[i*a : (i+1)*a], Reward: e.EarnedBy(i), Next: e.Next[i*o : (i+1)*o],
			Note: e.Note(i),
		}, e.Rewards[i])
	}
}

func (h *rowHistory) list(from *agent.BatchSource) (int, error) {
	reward := h.config.Shape.Obs + h.config.Shape.Act
	n := min(from.Real.Cap(), h.met.Len())
	var kept, newest []int // slots
	if h.rewarded != nil {
		all := min(n, h.rewarded.Len())
		kept = h.rewarded.Oldest(h.rewarded.Len()-all, all)
	}
	left := len(kept) // how many without a reward have to make room
	for _, slot := range h.met.Oldest(h.met.Len()-n, n) {
		if left > 0 && h.met.Row(slot)[reward] <= 0 {
			left--
			continue
		}
		newest = append(newest, slot)
	}
	h.behind.Clear()
	for _, slot := range kept[left:] { // fewer fit if too few of the newest are without a reward
		h.behind.addFrom(h.rewarded, slot)
	}
	for _, slot := range newest {
		h.behind.addFrom(h.met, slot)
	}
	return h.behind.Len(), nil
}

func (h *rowHistory) listed() int { return h.behind.Len() }

func (h *rowHistory) read(i int, _ *agent.BatchSource) (met, error) {
	row, o, a := h.behind.Row(i), h.config.Shape.Obs, h.config.Shape.Act
	return met{
		seen: observed{numbers: row[:o]}, next: observed{numbers: row[o+a+1:][:o]},
		action: row[o : o+a], earned: row[o+a], reward: h.behind.observedReward(i), note: h.behind.Note(i),
	}, nil
}

func (h *rowHistory) recall(dst *replay.FrameRow, _ agent.Frames, i int) error {
	if i < 0 || i >= h.behind.Len() {
		return fmt.Errorf("row %d of %d that were made from observations", i, h.behind.Len())
	}
	m, err := h.read(i, nil)
	if err != nil {
		return err
	}
	dst.Obs, dst.NextObs = m.seen.numbers, m.next.numbers
	dst.Action, dst.Return, dst.Discount, dst.Respawned = m.action, m.earned, float32(h.config.Gamma), m.note.Respawned
	return nil
}

// rings returns the rings of transitions, in the order of a file.
func (h *rowHistory) rings() (all []*observedRing) {
	for _, r := range []*observedRing{h.met, h.rewarded, h.behind} {
		if r != nil {
			all = append(all, r)
		}
	}
	return all
}

func (h *rowHistory) save(w io.Writer) error {
	for _, r := range h.rings() {
		if err := r.save(w); err != nil {
			return err
		}
	}
	return nil
}

func (h *rowHistory) load(r io.Reader) error {
	for _, ring := range h.rings() {
		if err := ring.load(r); err != nil {
			return err
		}
	}
	return nil
}

// unfilled counts no more transitions than the run makes.
func (h *rowHistory) unfilled() (numbers, frames int64) {
	for _, r := range h.rings() {
		numbers += int64(min(r.Cap(), h.config.Length*h.config.Copies)-r.Len()) * int64(r.rowBytes())
	}
	return max(0, numbers), 0
}

// Unfilled is roughly how many bytes of numbers, and of frames before compression, the learner has
// in a checkpoint at the end of the run in addition to those that it has now.
func (l *Latent) Unfilled() (numbers, frames int64) {
	c := l.config
	numbers, frames = l.history.unfilled()
	rows := int64(min(c.AlignRows, c.Window*c.rows()) - len(l.aligned.then)/l.aligned.now.Size())
	return numbers + 4*rows*int64(c.numbers()+c.latents().Obs), frames + rows*int64(c.frame())
}
