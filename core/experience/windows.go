package experience

import (
	"fmt"
	"slices"
	"sort"

	"pgrlab/core/replay"
)

// Windows lists rows of batches of frames in a fixed order: all rows that there were when the list
// was made. A window keeps its number, whatever is added later, until its frames are forgotten. A
// row of D_real that was made from frames is traced back to its window.
type Windows struct {
	Steps, Stack int // n of a window, and the frames of an observation
	Runs         []WindowRun
}

// WindowRun is a run of windows of one copy whose first frames are consecutive: an episode, as far
// as its frames are held.
type WindowRun struct {
	Copy   int
	First  uint64 // number of the first window's s among the copy's frames
	Before int    // windows in the runs before this one
	Count  int
}

// Len is how many windows there are.
func (w *Windows) Len() int {
	if len(w.Runs) == 0 {
		return 0
	}
	last := w.Runs[len(w.Runs)-1]
	return last.Before + last.Count
}

// Windows lists the rows that Draw can draw, of n env steps and stacks of that many frames: copy by
// copy, the oldest first. If there are more than most, the first ones are left out.
func (f Frames) Windows(n, stack, most int) Windows {
	w := Windows{Steps: n, Stack: stack}
	for i := range f.reels {
		r, follows := &f.reels[i], false
		oldest := f.oldest(r)
		for at := oldest; at < r.total; at++ {
			switch is := r.window(at, oldest, n, stack) > 0; {
			case is && follows:
				w.Runs[len(w.Runs)-1].Count++
			case is:
				w.Runs = append(w.Runs, WindowRun{Copy: i, First: at, Before: w.Len(), Count: 1})
				follows = true
			default:
				follows = false
			}
		}
	}
	w.leaveOut(w.Len() - most)
	return w
}

// Drawable says whether there is a row that Draw can draw, of n env steps and stacks of that many
// frames.
func (f Frames) Drawable(n, stack int) bool {
	for i := range f.reels {
		r := &f.reels[i]
		oldest := f.oldest(r)
		for at := oldest; at < r.total; at++ {
			if r.window(at, oldest, n, stack) > 0 {
				return true
			}
		}
	}
	return false
}

// leaveOut leaves out the first n windows.
func (w *Windows) leaveOut(n int) {
	if n <= 0 {
		return
	}
	w.Runs = slices.DeleteFunc(w.Runs, func(r WindowRun) bool { return r.Before+r.Count <= n })
	for i := range w.Runs {
		r := &w.Runs[i]
		r.Before -= n
		if r.Before < 0 {
			r.First, r.Count, r.Before = r.First+uint64(-r.Before), r.Count+r.Before, 0
		}
	}
}

// Window writes window number i to dst, whose Stack and Next have room for w.Stack frames each. It
// fails if the window's frames have been forgotten. Otherwise it allocates nothing, and several
// goroutines may call it at once.
func (f Frames) Window(dst *replay.FrameRow, w *Windows, i int, gamma float64) error {
	at := sort.Search(len(w.Runs), func(k int) bool { return w.Runs[k].Before > i }) - 1
	if at < 0 || i >= w.Runs[at].Before+w.Runs[at].Count || w.Runs[at].Copy >= len(f.reels) {
		return fmt.Errorf("window %d of %d", i, w.Len())
	}
	run := w.Runs[at]
	r, frame := &f.reels[run.Copy], run.First+uint64(i-run.Before)
	if oldest := f.oldest(r); frame >= oldest && frame < r.total {
		if steps := r.window(frame, oldest, w.Steps, w.Stack); steps > 0 {
			r.draw(f.Log, dst, frame, steps, gamma)
			return nil
		}
	}
	return fmt.Errorf("window %d: its frames have been forgotten: a larger buffer keeps them longer", i)
}
