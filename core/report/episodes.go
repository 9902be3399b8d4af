package report

import (
	"fmt"
	"slices"

	"pgrlab/core/run"
)

// Episodes say of each transition of D_real in which episode it was met, and whether the data are cut
// after it.
type Episodes struct {
	Number []int32
	// Cut is 1 where a time limit ended the episode, or a simulation that broke down, and at the newest
	// transition of each copy of the environment unless the episode truly ended there.
	Cut []float32
}

// Episodes reads from the journal which transitions of a member follow one another. Every env step gave
// one row for each copy; first is the number of such rows that are older than those of t. It is negative
// where t begins with so many rows of data that the run began with: they are of episode -1.
func (r *Run) Episodes(t Transitions, member, copies, first int) (*Episodes, error) {
	ends := make([][]int, copies) // the env steps after which episodes were over, by copy
	err := Lines(r.Dir, func(e run.Entry, values []Scalar) error {
		if e.Type != "episode" || max(e.Member, 0) != member {
			return nil
		}
		length, of := 0, 0
		for _, v := range values {
			switch v.Name {
			case "episode/length":
				length = int(v.Value)
			case "episode/copy":
				of = int(v.Value)
			}
		}
		if of < 0 || of >= copies || length < 1 {
			return fmt.Errorf("journal line %d: an episode of %d steps in copy %d of %d", e.Number, length, of, copies)
		}
		end := length
		if n := len(ends[of]); n > 0 {
			end += ends[of][n-1]
		}
		if at := e.Step / copies; end != at && end != at-1 { // one that is lost is over before the step in which the line stands
			return fmt.Errorf("journal line %d: an episode is over after env step %d, and by the lengths of all of them after %d", e.Number, at, end)
		}
		ends[of] = append(ends[of], end)
		return nil
	})
	if err != nil {
		return nil, err
	}
	obs, act := t.Sizes()
	all := &Episodes{Number: make([]int32, t.Len()), Cut: make([]float32, t.Len())}
	for i := range t.Len() {
		if first+i < 0 { // of data that the run began with
			all.Number[i], all.Cut[i] = -1, 1-t.Row(i)[2*obs+act+1]
			continue
		}
		of, step := (first+i)%copies, (first+i)/copies+1
		k, last := slices.BinarySearch(ends[of], step)
		all.Number[i] = int32(of + k*copies)
		if terminal := t.Row(i)[2*obs+act+1] != 0; (last || i >= t.Len()-copies) && !terminal {
			all.Cut[i] = 1
		}
	}
	return all, nil
}
