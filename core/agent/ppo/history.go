package ppo

import (
	"io"

	"pgrlab/core/agent"
	"pgrlab/core/replay"
)

// history is what D_real is made of: transitions as the environment had them.
type history interface {
	// observe adds an env step.
	observe(e *agent.Experience)
	// list chooses what D_real is made of: the newest transitions, and those with a reward from
	// before them in the place of the oldest without one, so that there are equally many whatever
	// was met. It returns how many they are.
	list(from *agent.BatchSource) (int, error)
	// listed is how many were chosen last. read is one of them, until the next read.
	listed(from *agent.BatchSource) int
	read(i int, from *agent.BatchSource) (met, error)
	save(w io.Writer) error
	load(r io.Reader) error
	// unfilled are the bytes of numbers, and those of frames, that a file has beside those of now
	// in the end.
	unfilled() (numbers, frames int64)
}

// met is a transition.
type met struct {
	seen, next observed // one each
	action     []float32
	reward     float32
	note       replay.Note
}

// rowHistory keeps transitions of observations as rows.
type rowHistory struct {
	config   Config
	met      *replay.Ring // the newest
	rewarded *replay.Ring // those with a reward that have left it; nil where none are kept
	chosen   []place      // nil: not known any more
}

// place is where a transition is.
type place struct {
	ring *replay.Ring
	slot int
}

func newRowHistory(c Config) *rowHistory {
	h := &rowHistory{config: c, met: replay.NewRing(c.Shape, c.Window*c.rows())}
	h.met.Annotate()
	if c.KeepRewarded > 0 {
		h.rewarded = replay.NewRing(c.Shape, c.KeepRewarded)
		h.rewarded.Annotate()
	}
	return h
}

func (h *rowHistory) observe(e *agent.Experience) {
	h.chosen = nil
	o, a := h.config.Shape.Obs, h.config.Shape.Act
	for i := range e.Copies {
		if h.rewarded != nil && h.met.Len() == h.met.Cap() {
			if oldest := h.met.Newest(h.met.Len() - 1); h.met.Row(oldest)[o+a] > 0 {
				h.rewarded.AddFrom(h.met, oldest)
			}
		}
		h.met.Add(replay.Transition{
			Obs: e.Obs[i*o : (i+1)*o], Act: e.Actions[i*a : (i+1)*a], Reward: e.Rewards[i], Next: e.Next[i*o : (i+1)*o],
			Note: e.Note(i),
		})
	}
}

func (h *rowHistory) list(from *agent.BatchSource) (int, error) {
	reward := h.config.Shape.Obs + h.config.Shape.Act
	n := min(from.Real.Cap(), h.met.Len())
	h.chosen = make([]place, 0, n+h.config.KeepRewarded)
	if h.rewarded != nil {
		kept := min(n, h.rewarded.Len())
		for _, slot := range h.rewarded.Oldest(h.rewarded.Len()-kept, kept) {
			h.chosen = append(h.chosen, place{h.rewarded, slot})
		}
	}
	left := len(h.chosen) // of those without a reward that make room
	for _, slot := range h.met.Oldest(h.met.Len()-n, n) {
		if left > 0 && h.met.Row(slot)[reward] <= 0 {
			left--
			continue
		}
		h.chosen = append(h.chosen, place{h.met, slot})
	}
	h.chosen = h.chosen[len(h.chosen)-n:]
	return n, nil
}

// listed lists them anew behind a file: nothing was observed since.
func (h *rowHistory) listed(from *agent.BatchSource) int {
	if h.chosen == nil {
		h.list(from)
	}
	return len(h.chosen)
}

func (h *rowHistory) read(i int, _ *agent.BatchSource) (met, error) {
	at := h.chosen[i]
	row, o, a := at.ring.Row(at.slot), h.config.Shape.Obs, h.config.Shape.Act
	return met{
		seen: observed{numbers: row[:o]}, next: observed{numbers: row[o+a+1:][:o]},
		action: row[o : o+a], reward: row[o+a], note: at.ring.Note(at.slot),
	}, nil
}

// rings are the transitions that it keeps.
func (h *rowHistory) rings() []*replay.Ring {
	if h.rewarded == nil {
		return []*replay.Ring{h.met}
	}
	return []*replay.Ring{h.met, h.rewarded}
}

func (h *rowHistory) save(w io.Writer) error {
	for _, r := range h.rings() {
		if err := r.Save(w); err != nil {
			return err
		}
	}
	return nil
}

func (h *rowHistory) load(r io.Reader) error {
	h.chosen = nil
	for _, ring := range h.rings() {
		if err := ring.Load(r); err != nil {
			return err
		}
	}
	return nil
}

// unfilled is of no more transitions than the run makes.
func (h *rowHistory) unfilled() (numbers, frames int64) {
	for _, r := range h.rings() {
		numbers += int64(min(r.Cap(), h.config.Length*h.config.Copies)-r.Len()) * int64(r.RowBytes())
	}
	return max(0, numbers), 0
}

// Unfilled is about how many bytes of numbers, and of frames before compression, a checkpoint at
// the end of the run has of the learner beside those that it has now.
func (l *Latent) Unfilled() (numbers, frames int64) {
	c := l.config
	numbers, frames = l.history.unfilled()
	rows := int64(min(c.AlignRows, c.Window*c.rows()) - len(l.aligned.then)/l.aligned.now.Size())
	return numbers + 4*rows*int64(c.numbers()+c.latents().Obs), frames + rows*int64(c.frame())
}
