package ptx

import (
	"fmt"
	"math/bits"
)

// Fault is an error of a kernel while it runs.
type Fault struct {
	Kernel        string
	Line          int    // of the PTX text
	Text          string // that line
	Block, Thread [3]uint32
	Reason        string
}

func (f *Fault) Error() string {
	return fmt.Sprintf("run kernel %s: ptx line %d (%s): block %s thread %s: %s", f.Kernel, f.Line, f.Text, triple(f.Block), triple(f.Thread), f.Reason)
}

func triple(x [3]uint32) string { return fmt.Sprintf("%d,%d,%d", x[0], x[1], x[2]) }

// fault returns an error of the first lane of a group.
func (w *warp) fault(in *inst, at uint32, format string, args ...any) error {
	i := w.index*lanes + bits.TrailingZeros32(at)&31
	return &Fault{
		Kernel: w.k.Name, Line: int(in.line), Text: w.k.module.line(int(in.line)),
		Block: w.block.at, Thread: w.block.place(i), Reason: fmt.Sprintf(format, args...),
	}
}
