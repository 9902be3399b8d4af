package replay

import "fmt"

// Shape is the size of a task's observations and actions.
type Shape struct{ Obs, Act int }

// Width is the length of a row [s, a, r, s', d].
func (s Shape) Width() int { return 2*s.Obs + s.Act + 2 }

// Validate says what is wrong with s, or returns nil.
func (s Shape) Validate() error {
	if s.Obs < 1 || s.Act < 1 {
		return fmt.Errorf("%d observations and %d actions, want at least 1 each", s.Obs, s.Act)
	}
	return nil
}

// Transition is one step of a task. Done is a true end, never a time limit.
type Transition struct {
	Obs    []float32 // [O], s
	Act    []float32 // [A], a
	Reward float32   // r
	Next   []float32 // [O], s'
	Done   bool      // d
	Note   Note      // kept by a ring that keeps notes
}

// put writes t as a row.
func (s Shape) put(row []float32, t Transition) {
	if len(t.Obs) != s.Obs || len(t.Act) != s.Act || len(t.Next) != s.Obs {
		panic(fmt.Sprintf("replay: a transition of %d, %d and %d numbers in a ring of %d observations and %d actions",
			len(t.Obs), len(t.Act), len(t.Next), s.Obs, s.Act))
	}
	n := copy(row, t.Obs)
	n += copy(row[n:], t.Act)
	row[n] = t.Reward
	copy(row[n+1:], t.Next)
	row[s.Width()-1] = 0
	if t.Done {
		row[s.Width()-1] = 1
	}
}
