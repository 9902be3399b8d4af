package experience_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgrlab/core/experience"
)

// Windows lists the rows of the slow frames, each once and in their order, or the last of them. The
// listed windows do not change while frames are added; once one of their frames is overwritten,
// reading it is an error.
func TestWindowsAreTheRowsOfTheSlowFrames(t *testing.T) {
	forgotten, kept := 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 23))
		n, depth, copies := 1+r.IntN(4), 1+r.IntN(4), 1+r.IntN(3)
		p := newPlayer(r, depth+n+r.IntN(30), copies)
		for range 1 + r.IntN(40) {
			p.step(seed%3 == 0)
		}
		want, frames := p.slow.rows(n, depth, 0.9), experience.Frames{Log: p.fast}
		most := 1 + r.IntN(2*len(want)+1)
		if got := frames.Drawable(n, depth); got != (len(want) > 0) {
			t.Fatalf("seed %d: %d windows, and some can be drawn: %v", seed, len(want), got)
		}
		want = want[max(0, len(want)-most):]
		w := frames.Windows(n, depth, most)
		if w.Len() != len(want) {
			t.Fatalf("seed %d: %d windows, want %d", seed, w.Len(), len(want))
		}
		read := func(i int) (string, error) {
			got := row(depth)
			err := frames.Window(got, &w, i, 0.9)
			return fmt.Sprint(*got), err
		}
		for i := range want {
			if got, err := read(i); err != nil || got != want[i] {
				t.Fatalf("seed %d, n %d, stack %d: window %d is %s, %v, want %s", seed, n, depth, i, got, err, want[i])
			}
		}
		for _, i := range []int{-1, w.Len()} {
			if _, err := read(i); err == nil {
				t.Errorf("seed %d: window %d of %d", seed, i, w.Len())
			}
		}
		for range r.IntN(15) {
			p.step(false)
		}
		now := p.slow.rows(n, depth, 0.9)
		for i := range want {
			got, err := read(i)
			switch held := slices.Contains(now, want[i]); {
			case held && (err != nil || got != want[i]):
				t.Fatalf("seed %d: later window %d is %s, %v, want %s", seed, i, got, err, want[i])
			case !held && err == nil:
				t.Fatalf("seed %d: window %d is read, whose frames are overwritten", seed, i)
			case held:
				kept++
			default:
				forgotten++
			}
		}
	}
	if kept < 100 || forgotten < 100 {
		t.Errorf("%d windows were kept and %d forgotten: too few of either", kept, forgotten)
	}
}

func TestReadingWindowsDoesNotAllocate(t *testing.T) {
	f, r := filmed(100, 2, 5, 9), row(3)
	w := (experience.Frames{Log: f}).Windows(3, 3, 1000)
	i := 0
	if n := testing.AllocsPerRun(w.Len()-2, func() {
		if err := (experience.Frames{Log: f}).Window(r, &w, i, 0.9); err != nil {
			t.Fatal(err)
		}
		i++
	}); n > 0 {
		t.Errorf("a window allocates %v times", n)
	}
	if empty := (&experience.Windows{}); empty.Len() != 0 {
		t.Error("windows of nothing")
	}
}
