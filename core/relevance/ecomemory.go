package relevance

import (
	"math"
	"slices"

	"pgrlab/core/experience"
)

// Met is an env step of all K copies of the environment.
type Met struct {
	Step      uint64    // from 1 on
	Obs, Next []float32 // [K,O]; Next is what was reached, before any reset
	// Seen and NextSeen are the frames of Obs and Next, one for each copy, if frames are compared
	// instead of numbers.
	Seen, NextSeen [][]byte
	Ended          []bool // [K], whether the episode ended, for whatever reason
	// From and Place are where the copies were at Obs and at Next, [K,2] in the environment's
	// units; nil if the environment does not say. They are remembered with the observations for
	// display only: F does not depend on them.
	From, Place []float32
}

// memories hold the observations that each copy's episode has met and found new. An entry is an
// observation in the log, the output of the comparator's first layer for it in the second place, and the place
// where it was met.
type memories struct {
	log         *experience.Log
	size, width int
	n           []int            // entries of each copy
	joined      []int32          // of each copy, the entry that the last env step made; -1: none
	seen        []experience.Ref // [K,size], pinned
	keys        []float32        // [K,size,H]
	places      []float32        // [K,size,2]; NaN: unknown
	alike       []float32        // [embeddedRows·size], of copies that are compared together: ln of the odds of close against distant
}

func newMemories(c ECOConfig, copies int, log *experience.Log) memories {
	width := c.Comparator[0]
	return memories{
		log: log, size: c.Entries, width: width, n: make([]int, copies), joined: slices.Repeat([]int32{-1}, copies), seen: make([]experience.Ref, copies*c.Entries),
		keys: make([]float32, copies*c.Entries*width), places: make([]float32, 2*copies*c.Entries), alike: make([]float32, min(copies, embeddedRows)*c.Entries),
	}
}

// keysOf are the keys of a copy's entries.
func (s *memories) keysOf(i int) []float32 {
	return s.keys[i*s.size*s.width:][:s.n[i]*s.width]
}

// seenOf are a copy's entries.
func (s *memories) seenOf(i int) []experience.Ref { return s.seen[i*s.size:][:s.n[i]] }

// look is the observation at a place of seen.
func (s *memories) look(at int) experience.Look {
	seen, _ := s.log.Look(s.seen[at])
	return seen
}

// placesOf are where a copy's entries were met.
func (s *memories) placesOf(i int) []float32 {
	return s.places[i*s.size*2:][:s.n[i]*2]
}

// set writes an observation, met at places[2i:], to a slot of a copy's memory.
func (s *memories) set(i, slot int, seen experience.Ref, key, places []float32) {
	at := s.places[(i*s.size+slot)*2:][:2]
	if at[0], at[1] = nan32, nan32; places != nil {
		copy(at, places[2*i:])
	}
	s.log.Pin(seen)
	if slot < s.n[i] {
		s.log.Unpin(s.seen[i*s.size+slot])
	} else {
		s.n[i]++
	}
	s.seen[i*s.size+slot] = seen
	copy(s.keys[(i*s.size+slot)*s.width:][:s.width], key)
}

// forget empties a copy's memory.
func (s *memories) forget(i int) {
	for _, seen := range s.seenOf(i) {
		s.log.Unpin(seen)
	}
	s.n[i] = 0
}

var nan32 = float32(math.NaN())

// Meet takes the next env step, before it is added to the log, and writes F of its transitions to dst
// [K].
func (m *ECO) Meet(dst []float32, step *Met) error {
	m.history.met++
	if !m.Learned() {
		clear(dst[:m.copies])
		return nil
	}
	m.met = Familiarity{Accuracy: m.accuracy}
	for first := 0; first < m.copies; first += m.programs.rows {
		if err := m.meetSome(dst, step, first, min(m.programs.rows, m.copies-first)); err != nil {
			return err
		}
	}
	return nil
}

// meetSome is Meet for n copies from first on.
func (m *ECO) meetSome(dst []float32, step *Met, first, n int) error {
	s, p := &m.memories, &m.programs
	if slices.Contains(s.n[first:first+n], 0) {
		if err := m.embed(n, func(i int) experience.Look { return step.before(first + i) }); err != nil {
			return err
		}
		for i := range n {
			if s.n[first+i] == 0 { // an episode begins
				s.set(first+i, 0, s.log.Last(first+i), p.halves[1][i*s.width:(i+1)*s.width], step.From)
			}
		}
	}
	if err := m.embed(n, func(i int) experience.Look { return step.after(first + i) }); err != nil {
		return err
	}
	if err := m.compareAll(first, n); err != nil {
		return err
	}
	alike := s.alike
	for i := range n {
		at := first + i
		own := alike[:s.n[at]]
		alike = alike[s.n[at]:]
		slices.Sort(own)
		p90 := percentile(own, m.config.Percentile)
		dst[at] = float32(m.config.Alpha * (m.config.Beta - p90))
		m.met.P90 += p90 / float64(m.copies)
		s.joined[at] = -1
		m.met.Entries += float64(s.n[at]) / float64(m.copies)
		switch {
		case step.Ended[at]:
			dst[at] = 0
			s.forget(at)
		case dst[at] > 0:
			m.remember(at, step, p.halves[1][i*s.width:(i+1)*s.width])
		}
	}
	return nil
}

// Fill makes all memories full, with entries that have no meaning.
func (m *ECO) Fill() {
	s := &m.memories
	for i := range s.n {
		for s.n[i] < s.size {
			s.set(i, s.n[i], s.log.Last(i), s.keys[:s.width], nil)
		}
	}
}

// remember adds the observation that a copy has reached to its memory.
func (m *ECO) remember(i int, step *Met, key []float32) {
	s, slot := &m.memories, m.memories.n[i]
	if slot == s.size {
		at := m.streams.places.At(step.Step*uint64(m.copies) + uint64(i))
		slot = at.IntN(s.size)
	}
	next := s.log.Last(i) // its number is that of the look which is added next
	next.Number++
	s.set(i, slot, next, key, step.Place)
	s.joined[i] = int32(slot)
}

// embed computes the output of the comparator's first layer for n observations, at most as many as
// are embedded together.
func (m *ECO) embed(n int, at func(i int) experience.Look) error {
	for i := range n {
		m.show(m.programs.obs[i*m.width:], at(i))
	}
	return m.programs.embed.Run(0)
}

// compareAll compares the embedded observations of n copies with all entries that each remembers,
// and writes the results to alike, copy by copy.
func (m *ECO) compareAll(first, n int) error {
	s := &m.memories
	c := comparison{programs: &m.programs, dst: s.alike}
	for i := range n {
		query, keys := m.programs.halves[0][i*s.width:(i+1)*s.width], s.keysOf(first+i)
		for ; len(keys) > 0; keys = keys[s.width:] {
			if err := c.add(query, keys[:s.width]); err != nil {
				return err
			}
		}
	}
	return c.run()
}

// comparison collects pairs for the program that compares, and writes ln of the odds of close
// against distant of each, in their order.
type comparison struct {
	programs *ecoPrograms
	dst      []float32 // for the pairs that are not compared yet
	rows     int       // that wait
}

// add adds a pair, given as the outputs of the comparator's first layer for both.
func (c *comparison) add(x, y []float32) error {
	sum := c.programs.sums[c.rows*len(x):][:len(x)]
	for k, v := range x {
		sum[k] = v + y[k]
	}
	if c.rows++; c.rows < comparedRows {
		return nil
	}
	return c.run()
}

// run compares the pairs that wait.
func (c *comparison) run() error {
	if c.rows == 0 {
		return nil
	}
	if err := c.programs.compare.Run(0); err != nil {
		return err
	}
	logits := c.programs.logits
	for r := range c.rows {
		c.dst[r] = logits[r*ecoLogits+closeLogit] - logits[r*ecoLogits+farLogit]
	}
	c.dst, c.rows = c.dst[c.rows:], 0
	return nil
}

// percentile is the percentile of the similarities whose logits are sorted, with linear
// interpolation between two of them.
func percentile(sorted []float32, share float64) float64 {
	place := share * float64(len(sorted)-1)
	below := math.Floor(place)
	low := similarity(sorted[int(below)])
	if place == below {
		return low
	}
	return low + (place-below)*(similarity(sorted[int(below)+1])-low)
}

// similarity is the probability of close.
func similarity(logit float32) float64 { return 1 / (1 + math.Exp(-float64(logit))) }
