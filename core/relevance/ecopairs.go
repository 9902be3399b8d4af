package relevance

import (
	"fmt"
	"math"

	"pgrlab/core/experience"
	"pgrlab/core/rng"
)

// ecoStreams are the random numbers of episodic curiosity.
type ecoStreams struct {
	weights rng.Stream
	places  rng.Stream // of entries in full memories, by env step and copy
	pairs   rng.Stream // by round
	orders  rng.Stream // of pairs, by round and epoch
}

func newECOStreams(seed uint64) ecoStreams {
	s := rng.New(seed, "eco")
	return ecoStreams{weights: s, places: s.Sub("places"), pairs: s.Sub("pairs"), orders: s.Sub("orders")}
}

// history is the observations in which the actions of the newest env steps were taken, of those that were
// met. They are in the log; a row is the place that an observation has in a ring of so many env steps.
type history struct {
	log           *experience.Log
	steps, copies int    // capacity: env steps of that many copies
	born          uint64 // env steps of the log before the first that was met
	met           uint64 // env steps ever met
}

// newHistory returns an empty history of that many env steps.
func newHistory(log *experience.Log, steps, copies int) history {
	return history{log: log, steps: steps, copies: copies, born: log.Steps()}
}

// filled is how many env steps it holds.
func (h *history) filled() int { return int(min(h.met, uint64(h.steps))) }

// row is the place of a copy's observation, i env steps after the oldest.
func (h *history) row(i, copied int) int {
	oldest := h.met - uint64(h.filled())
	return int((oldest+uint64(i))%uint64(h.steps))*h.copies + copied
}

// after names what followed the observation at a place.
func (h *history) after(row int) experience.Ref {
	slot, last := uint64(row/h.copies), h.met-1
	return h.log.After(h.born+last-(last-slot)%uint64(h.steps), row%h.copies)
}

// at returns the observation at a place.
func (h *history) at(row int32) experience.Look {
	seen, _ := h.log.Look(h.after(int(row)).Before())
	return seen
}

// last says whether the observation at a place is the last of its episode.
func (h *history) last(row int) bool {
	after := h.after(row)
	m, _ := h.log.Met(after)
	return m.End != experience.Continues || h.log.Cut(after)
}

// pair are two observations of an episode, rows of the history.
type pair struct {
	x, y  int32
	close bool
}

// pairs are the pairs of a round. They depend on the seed, the round's number and the history only.
type pairs struct {
	all   []pair // the last held of them are not learned from
	held  int
	order []int32 // of the learned pairs, in an epoch
	epoch uint64  // number of order's epoch, over all rounds, plus one; 0: there is no order
	of    uint64  // number of the round plus one; 0: there is none
}

// heldOut is the share of a round's pairs on which its accuracy is measured.
const heldOut = 0.05

// draw draws the pairs of a round by walking through each copy's episodes.
func (p *pairs) draw(h *history, c ECOConfig, s rng.Stream, round uint64) {
	if p.of == round+1 {
		return
	}
	p.of, p.epoch, p.all = round+1, 0, p.all[:0]
	q := s.At(round)
	for copied := range h.copies {
		first := 0
		for i := range h.filled() {
			if h.last(h.row(i, copied)) || i+1 == h.filled() {
				p.walk(h, c, q, copied, first, i+1)
				first = i + 1
			}
		}
	}
	for i := len(p.all) - 1; i > 0; i-- {
		j := q.IntN(i + 1)
		p.all[i], p.all[j] = p.all[j], p.all[i]
	}
	p.held = int(heldOut * float64(len(p.all)))
}

// walk adds pairs of the observations from first up to last of a copy's episode. Each pair begins a
// few actions after the one before; close and distant pairs are equally likely. The walk ends if a
// close pair would reach beyond last, or if no observation is far enough for a distant one.
func (p *pairs) walk(h *history, c ECOConfig, q *rng.Sequence, copied, first, last int) {
	for i := first; i < last; i += 2 + q.IntN(c.Near) {
		if q.IntN(2) == 0 {
			j := i + 1 + q.IntN(c.Near)
			if j >= last {
				return
			}
			x, y := int32(h.row(i, copied)), int32(h.row(j, copied))
			if q.IntN(2) == 0 {
				x, y = y, x
			}
			p.all = append(p.all, pair{x, y, true})
			continue
		}
		before, after := max(0, i-c.Far-first), max(0, last-1-i-c.Far)
		if before+after == 0 {
			return
		}
		j := first + q.IntN(before+after)
		if j >= first+before {
			j += i + c.Far + 1 - (first + before)
		}
		p.all = append(p.all, pair{int32(h.row(i, copied)), int32(h.row(j, copied)), false})
	}
}

// learned are the pairs that are learned from, heldBack the others.
func (p *pairs) learned() []pair  { return p.all[:len(p.all)-p.held] }
func (p *pairs) heldBack() []pair { return p.all[len(p.all)-p.held:] }

// ordered returns the order of the learned pairs in an epoch.
func (p *pairs) ordered(s rng.Stream, epoch uint64) []int32 {
	if p.epoch == epoch+1 {
		return p.order
	}
	p.epoch, p.order = epoch+1, p.order[:0]
	for i := range p.learned() {
		p.order = append(p.order, int32(i))
	}
	q := s.At(epoch)
	for i := len(p.order) - 1; i > 0; i-- {
		j := q.IntN(i + 1)
		p.order[i], p.order[j] = p.order[j], p.order[i]
	}
	return p.order
}

// RoundDue reports whether the whole history was renewed since the last round.
func (m *ECO) RoundDue() bool { return m.history.met/uint64(m.history.steps) > m.rounds }

// RoundUnits is the number of units in the round that is due: its updates, and one that measures
// the accuracy and embeds the entries of the memories again.
func (m *ECO) RoundUnits() int { return m.updates() + 1 }

// updates is the number of updates in the round that is due; 0 if it has fewer pairs to learn from
// than a batch.
func (m *ECO) updates() int {
	m.pairs.draw(&m.history, m.config, m.streams.pairs, m.rounds)
	return m.config.Epochs * (len(m.pairs.learned()) / m.config.Batch)
}

// LearnSlice does the unit of a round that follows the done ones; loss is that of an update, or NaN
// for the last unit.
func (m *ECO) LearnSlice(done int) (loss float64, err error) {
	if done == m.updates() {
		return math.NaN(), m.endRound()
	}
	c, p := m.config, &m.programs
	each := len(m.pairs.learned()) / c.Batch
	order := m.pairs.ordered(m.streams.orders, m.rounds*uint64(c.Epochs)+uint64(done/each))[done%each*c.Batch:][:c.Batch]
	clear(p.labels)
	for i, at := range order {
		pair := m.pairs.all[at]
		m.show(p.x[i*m.width:], m.history.at(pair.x))
		m.show(p.y[i*m.width:], m.history.at(pair.y))
		if pair.close {
			p.labels[i*ecoLogits+closeLogit] = 1
		} else {
			p.labels[i*ecoLogits+farLogit] = 1
		}
	}
	if err := p.step.Run(0); err != nil {
		return 0, fmt.Errorf("train eco: %w", err)
	}
	return p.step.Loss(), nil
}

// endRound measures the accuracy and embeds the entries of the memories again.
func (m *ECO) endRound() error {
	if err := m.judge(m.pairs.heldBack()); err != nil {
		return fmt.Errorf("eco: %w", err)
	}
	m.rounds++
	s := &m.memories
	for i, n := range s.n {
		for first := 0; first < n; first += m.programs.rows {
			rows, at := min(m.programs.rows, n-first), i*s.size+first
			if err := m.embed(rows, func(k int) experience.Look { return s.look(at + k) }); err != nil {
				return fmt.Errorf("eco: %w", err)
			}
			copy(s.keys[at*s.width:(at+rows)*s.width], m.programs.halves[1])
		}
	}
	return nil
}

// judge measures the accuracy on held-back pairs: the share whose kind the network finds more
// likely.
func (m *ECO) judge(held []pair) error {
	p, width := &m.programs, m.memories.width
	alike := make([]float32, len(held))
	c := comparison{programs: p, dst: alike}
	each := p.rows / 2
	for first := 0; first < len(held); first += each {
		some := held[first:min(first+each, len(held))]
		for i, pair := range some {
			m.show(p.obs[2*i*m.width:], m.history.at(pair.x))
			m.show(p.obs[(2*i+1)*m.width:], m.history.at(pair.y))
		}
		if err := p.embed.Run(0); err != nil {
			return err
		}
		for i := range some {
			if err := c.add(p.halves[0][2*i*width:(2*i+1)*width], p.halves[1][(2*i+1)*width:(2*i+2)*width]); err != nil {
				return err
			}
		}
	}
	if err := c.run(); err != nil {
		return err
	}
	right := 0
	for i, pair := range held {
		if alike[i] > 0 == pair.close {
			right++
		}
	}
	if m.accuracy = math.NaN(); len(held) > 0 {
		m.accuracy = float64(right) / float64(len(held))
	}
	return nil
}
