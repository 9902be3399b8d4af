package ppo

import (
	"errors"
	"fmt"
	"math"

	"pgrlab/core/agent"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
)

// filmed is the history of a learner that sees frames. The run itself keeps the frames of the
// window (see agent.Spec.Keeps); filmed adds what a replay.FrameRow does not hold, and keeps
// whole transitions with a reward, which outlive the run's frames.
type filmed struct {
	config Config
	steps  uint64    // observed
	told   []float32 // [Window·Steps,Copies], the F that was assigned to the newest transitions; env step t is at t modulo Window·Steps
	// [Window·Steps,Copies], the observed rewards of the newest transitions; nil if there is no bonus.
	rewards []float32
	kept    []keepsake // the oldest first: those of the window, and at most KeepRewarded that have left it
	first   uint64     // the number of kept[0] among all keepsakes that there ever were
	made    made
	row     replay.FrameRow // memory for the rows that are read
}

// keepsake is a transition with its frames.
type keepsake struct {
	step       uint64 // how many env steps had been observed before it
	seen, next []byte
	action     []float32
	earned     float32 // the task's reward
	reward     float32 // the observed reward
	note       replay.Note
}

// made is what D_real was last made from: its first rows from keepsakes, the others from windows
// of the run's frames.
type made struct {
	first    uint64 // the number of the first keepsake
	kept     int
	windows  experience.Windows
	numbered []uint32 // the window of each row after those of keepsakes
}

func newFilmed(c Config) *filmed {
	h := &filmed{config: c, told: make([]float32, c.Window*c.rows()), row: replay.NewFrameRows(1, 1)[0]}
	if c.Bonus {
		h.rewards = make([]float32, c.Window*c.rows())
	}
	return h
}

func (h *filmed) observe(e *agent.Experience) {
	c := h.config
	at := h.steps % uint64(c.Window*c.Steps) * uint64(c.Copies)
	if h.rewards != nil {
		copy(h.rewards[at:], e.Rewards)
	}
	told := h.told[at:][:c.Copies]
	for i := range told {
		note := e.Note(i)
		told[i] = note.F
		if earned := e.EarnedBy(i); c.KeepRewarded > 0 && earned > 0 {
			h.kept = append(h.kept, keepsake{
				step: h.steps, seen: append([]byte(nil), e.Seen[i]...), next: append([]byte(nil), e.NextSeen[i]...),
				action: append([]float32(nil), e.Actions[i*c.Shape.Act:(i+1)*c.Shape.Act]...), earned: earned, reward: e.Rewards[i], note: note,
			})
		}
	}
	h.steps++
	if drop := h.gone() - c.KeepRewarded; drop > 0 {
		clear(h.kept[:drop])
		h.kept, h.first = h.kept[drop:], h.first+uint64(drop)
	}
}

// gone is how many keepsakes have left the window.
func (h *filmed) gone() (n int) {
	for n < len(h.kept) && h.kept[n].step+uint64(h.config.Window*h.config.Steps) < h.steps {
		n++
	}
	return n
}

// list lists windows by env step, and those of one env step in the order of the copies. Each copy
// makes one transition in every env step, so that its newest windows are of the newest env steps.
func (h *filmed) list(from *agent.BatchSource) (int, error) {
	if from.Frames == nil {
		return 0, errors.New("latents of frames, but the run keeps none")
	}
	m, steps := &h.made, h.config.Window*h.config.Steps
	*m = made{windows: from.Frames.Windows(1, 1, math.MaxInt)}
	of := make([][]uint32, h.config.Copies)
	for _, r := range m.windows.Runs {
		for i := range r.Count {
			of[r.Copy] = append(of[r.Copy], uint32(r.Before+i))
		}
	}
	for _, windows := range of {
		steps = min(steps, len(windows))
	}
	all := make([]uint32, 0, steps*len(of))
	for age := steps; age > 0; age-- {
		for _, windows := range of {
			all = append(all, windows[len(windows)-age])
		}
	}
	return h.choose(all, from)
}

// choose puts keepsakes that have left the window in the place of the oldest windows without a
// reward.
func (h *filmed) choose(windows []uint32, from *agent.BatchSource) (int, error) {
	m, n := &h.made, min(from.Real.Cap(), len(windows))
	gone := h.gone()
	m.kept = min(n, gone)
	m.first = h.first + uint64(gone-m.kept)
	left := m.kept
	for _, number := range windows[len(windows)-n:] {
		if left > 0 {
			if err := from.Frames.Window(&h.row, &m.windows, int(number), 1); err != nil {
				return 0, err
			}
			if h.row.Return <= 0 {
				left--
				continue
			}
		}
		m.numbered = append(m.numbered, number)
	}
	m.first, m.kept = m.first+uint64(left), m.kept-left // too few windows are without a reward
	return h.listed(), nil
}

func (h *filmed) listed() int { return h.made.kept + len(h.made.numbered) }

func (h *filmed) read(i int, from *agent.BatchSource) (met, error) {
	if err := h.recall(&h.row, from.Frames, i); err != nil {
		return met{}, err
	}
	r := &h.row
	m := met{seen: observed{frames: r.Stack[0]}, next: observed{frames: r.Next[0]}, action: r.Action, earned: r.Return, reward: r.Return}
	if i < h.made.kept {
		k := h.keepsake(i)
		m.reward, m.note = k.reward, k.note
		return m, nil
	}
	at := h.toldAt(h.made.numbered[i-h.made.kept])
	m.note = replay.Note{Met: true, Respawned: r.Respawned, F: h.told[at]}
	if h.rewards != nil {
		m.reward = h.rewards[at]
	}
	return m, nil
}

// toldAt is the index in told and rewards of a window's transition. It is valid from the listing
// of the windows until another env step is observed.
func (h *filmed) toldAt(window uint32) uint64 {
	w := &h.made.windows
	copied, age := 0, uint64(0)
	for _, r := range w.Runs {
		if int(window) >= r.Before && int(window) < r.Before+r.Count {
			copied, age = r.Copy, uint64(r.Before+r.Count-int(window))
		} else if int(window) < r.Before && r.Copy == copied {
			age += uint64(r.Count)
		}
	}
	c := h.config
	return (h.steps-age)%uint64(c.Window*c.Steps)*uint64(c.Copies) + uint64(copied)
}

// keepsake returns the keepsake of a row of D_real; nil if it has been forgotten.
func (h *filmed) keepsake(row int) *keepsake {
	if number := h.made.first + uint64(row); number >= h.first {
		return &h.kept[number-h.first]
	}
	return nil
}

// recall writes what a row of D_real was made from.
func (h *filmed) recall(dst *replay.FrameRow, from agent.Frames, row int) error {
	m := &h.made
	switch {
	case row < 0 || row >= m.kept+len(m.numbered):
		return fmt.Errorf("row %d of %d that were made from frames", row, m.kept+len(m.numbered))
	case row >= m.kept:
		return from.Window(dst, &m.windows, int(m.numbered[row-m.kept]), h.config.Gamma)
	}
	k := h.keepsake(row)
	if k == nil {
		return fmt.Errorf("row %d: its frames have been forgotten", row)
	}
	dst.Stack[0], dst.Next[0] = k.seen, k.next
	dst.Action, dst.Return, dst.Discount, dst.Respawned = k.action, k.earned, float32(h.config.Gamma), k.note.Respawned
	return nil
}

func (h *filmed) unfilled() (numbers, frames int64) {
	c := h.config
	rows := int64(min(c.KeepRewarded, c.Length*c.Copies) - len(h.kept))
	return max(0, 4*rows*int64(c.Shape.Act)), max(0, 2*rows*int64(c.frame()))
}
