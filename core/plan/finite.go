package plan

import (
	"fmt"
	"strings"

	"pgrlab/core/device"
)

// NotFinite reports that a run stopped before it changed anything, and where the first number that
// is not finite appeared.
type NotFinite struct {
	Program string
	Step    int    // instruction number in Program.String; −1: the number was there before the run
	Op      string // what the instruction does; "input" if before the run
	Tensor  string // the tensor that holds the number, with its shape
	From    string // the operands of the instruction
	Member  int    // where it stands
	Row     int
	Col     int
	Value   float64
	Norm    float64 // of the gradients
}

func (e *NotFinite) Error() string {
	switch {
	case e.Op == "" && !(e.Norm > device.MaxGradientNorm):
		return e.Program + ": a number is not finite, and the device has no room to find it"
	case e.Op == "":
		return fmt.Sprintf("%s: the norm of the gradients is %.3g, too large for the optimiser", e.Program, e.Norm)
	case e.Step < 0:
		return fmt.Sprintf("%s: %s is %g at %s", e.Program, e.Tensor, e.Value, e.place())
	}
	return fmt.Sprintf("%s: step %d, %s from %s: %s is %g at %s", e.Program, e.Step, e.Op, e.From, e.Tensor, e.Value, e.place())
}

func (e *NotFinite) place() string { return fmt.Sprintf("[%d,%d,%d]", e.Member, e.Row, e.Col) }

// notFinite translates what the device found into the program's terms.
func (p *Program) notFinite(w *device.NotFinite) *NotFinite {
	e := &NotFinite{Program: p.Name, Step: w.Instr, Norm: w.Norm}
	if w.Instr == device.Nowhere {
		return e
	}
	b := p.code.Buffers[w.Buffer]
	e.Tensor, e.Value = p.describe(w.Buffer), float64(w.Value)
	e.Member, e.Row, e.Col = w.Index/(b.Rows*b.Cols), w.Index/b.Cols%b.Rows, w.Index%b.Cols
	e.Op = "input"
	if w.Instr >= 0 {
		in := p.code.Instrs[w.Instr]
		e.Op = in.Code.String()
		var from []string
		for _, r := range in.In {
			from = append(from, p.describe(r))
		}
		e.From = strings.Join(from, ", ")
	}
	return e
}
