package relevance

import (
	"fmt"
	"math"
	"slices"

	"pgrlab/core/experience"
)

// Recollection is what a copy of the environment remembers of its episode, compared with an
// observation.
type Recollection struct {
	Entries []RecalledEntry
	// Percentile is the percentile of the similarities, NaN if there are none. Like F, it leaves
	// out the entry that the last env step made from the observation itself. (If that entry
	// replaced another one in a full memory, F still counted the other one.)
	Percentile float64
}

// RecalledEntry is a remembered observation.
type RecalledEntry struct {
	X, Y       float64 // where it was met, in the environment's units; NaN: unknown
	Similarity float64 // the R-network's C(E(obs), E(entry)), from 0, far, to 1, a few actions away
	Newest     bool    // the last env step made it
}

// Recall returns what a copy remembers, and how similar the observation seen is to it. Entries are
// embedded with the present network, which during a round is ahead of their remembered keys.
func (m *ECO) Recall(copied int, seen experience.Look) (Recollection, error) {
	out := Recollection{Percentile: math.NaN()}
	s, p := &m.memories, &m.programs
	n := s.n[copied]
	if n == 0 {
		return out, nil
	}
	if err := m.embed(1, func(int) experience.Look { return seen }); err != nil {
		return out, fmt.Errorf("recall: %w", err)
	}
	query := slices.Clone(p.halves[0][:s.width])
	alike := make([]float32, n)
	c := comparison{programs: p, dst: alike}
	for first := 0; first < n; first += p.rows {
		rows := min(p.rows, n-first)
		if err := m.embed(rows, func(i int) experience.Look { return s.look(copied*s.size + first + i) }); err != nil {
			return out, fmt.Errorf("recall: %w", err)
		}
		for i := range rows {
			if err := c.add(query, p.halves[1][i*s.width:(i+1)*s.width]); err != nil {
				return out, fmt.Errorf("recall: %w", err)
			}
		}
	}
	if err := c.run(); err != nil {
		return out, fmt.Errorf("recall: %w", err)
	}
	places, joined := s.placesOf(copied), int(s.joined[copied])
	for i, logit := range alike {
		out.Entries = append(out.Entries, RecalledEntry{float64(places[2*i]), float64(places[2*i+1]), similarity(logit), i == joined})
	}
	if joined >= 0 {
		alike = slices.Delete(alike, joined, joined+1)
	}
	if len(alike) > 0 {
		slices.Sort(alike)
		out.Percentile = percentile(alike, m.config.Percentile)
	}
	return out, nil
}
