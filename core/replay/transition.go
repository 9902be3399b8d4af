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

// Batch is memory of the caller for Size transitions, by columns of a row: Obs
// and Next [Size,O], Act [Size,A], Reward and Done [Size,1], all row-major. It
// may be the inputs of compiled programs.
type Batch struct {
	Size                         int
	Obs, Act, Reward, Next, Done []float32
}

// NewBatch returns a batch with memory of its own.
func NewBatch(s Shape, size int) *Batch {
	return &Batch{
		Size: size,
		Obs:  make([]float32, size*s.Obs), Act: make([]float32, size*s.Act), Reward: make([]float32, size),
		Next: make([]float32, size*s.Obs), Done: make([]float32, size),
	}
}

// set takes a row apart into place i of the batch.
func (b *Batch) set(i int, row []float32, s Shape) {
	copy(b.Obs[i*s.Obs:(i+1)*s.Obs], row)
	copy(b.Act[i*s.Act:(i+1)*s.Act], row[s.Obs:])
	b.Reward[i] = row[s.Obs+s.Act]
	copy(b.Next[i*s.Obs:(i+1)*s.Obs], row[s.Obs+s.Act+1:])
	b.Done[i] = row[s.Width()-1]
}
