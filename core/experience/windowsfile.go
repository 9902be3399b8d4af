package experience

import (
	"encoding/binary"
	"fmt"
	"io"
)

// windowsHead says how many runs of windows follow.
type windowsHead struct{ Steps, Stack, Runs uint32 }

// savedRun is a WindowRun in a file; Before follows from the runs before it.
type savedRun struct{ Copy, First, Count uint64 }

// maxCopies and maxWindows bound the numbers in a file: a valid checksum does not make them
// plausible.
const maxCopies, maxWindows = 1 << 16, 1 << 40

// Save writes the list of windows, not their frames.
func (w *Windows) Save(to io.Writer) error {
	if err := binary.Write(to, binary.LittleEndian, windowsHead{uint32(w.Steps), uint32(w.Stack), uint32(len(w.Runs))}); err != nil {
		return err
	}
	for _, r := range w.Runs {
		if err := binary.Write(to, binary.LittleEndian, savedRun{uint64(r.Copy), r.First, uint64(r.Count)}); err != nil {
			return err
		}
	}
	return nil
}

// LoadWindows reads what Save wrote, and no byte beyond. It fails if there are windows with another
// number of env steps or of frames in a stack.
func LoadWindows(from io.Reader, steps, stack int) (Windows, error) {
	var head windowsHead
	if err := binary.Read(from, binary.LittleEndian, &head); err != nil {
		return Windows{}, err
	}
	if head.Runs > 0 && (int(head.Steps) != steps || int(head.Stack) != stack) {
		return Windows{}, fmt.Errorf("rows of %d env steps and stacks of %d frames are saved, the run's have %d and %d", head.Steps, head.Stack, steps, stack)
	}
	w := Windows{Steps: int(head.Steps), Stack: int(head.Stack)}
	for range head.Runs {
		var run savedRun
		if err := binary.Read(from, binary.LittleEndian, &run); err != nil {
			return Windows{}, err
		}
		if run.Copy >= maxCopies || run.Count < 1 || run.Count > maxWindows || w.Len() > maxWindows {
			return Windows{}, fmt.Errorf("a run of %d windows of copy %d is saved", run.Count, run.Copy)
		}
		w.Runs = append(w.Runs, WindowRun{Copy: int(run.Copy), First: run.First, Before: w.Len(), Count: int(run.Count)})
	}
	return w, nil
}
