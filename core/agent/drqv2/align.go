package drqv2

import (
	"encoding/binary"
	"fmt"
	"io"

	"pgrlab/core/agent"
	"pgrlab/core/agent/align"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// alignRows is how many rows of D_real, spread evenly, an alignment encodes again.
const alignRows = 2048

// alignment maps latents of the encoder that made D_real, to which a generator was fitted, to
// those of the present encoder. An update applies it to the generated rows that it reads;
// D_syn stays as it is.
type alignment struct {
	*align.Map
	seen []float32 // [rows,2F], the present latents of the first rows of a pass under way
	pass bool      // a pass is under way
}

func newAlignment(size int) *alignment { return &alignment{Map: align.New("alignment", size)} }

// reset makes a the identity: D_real is of the present encoder.
func (a *alignment) reset() {
	a.Reset()
	a.seen, a.pass = nil, false
}

// present maps generated latents to those that the present encoder would give.
func (x *Agent) present(g *op.Graph, z *op.Node) *op.Node {
	if x.alignment == nil {
		return z
	}
	return x.alignment.Of(g, z)
}

// Align returns latents of D_real or D_syn in the form in which updates read generated ones:
// as the present encoder would give them if the learner has an alignment, within the range of tanh
// as halves has them, otherwise z itself.
func (l *Latent) Align(z []float32) []float32 {
	if l.alignment == nil {
		return z
	}
	moved := l.alignment.Apply(z)
	for i, v := range moved {
		moved[i] = min(max(v, -largest), largest)
	}
	return moved
}

// aligns says whether the env step encodes rows of D_real again, to align D_syn with the
// present encoder.
func (l *Latent) aligns(w *agent.Work) bool {
	return l.alignment != nil && !w.Refit && w.Step%l.config.AlignEvery == 0 && w.Source.Synthetic != nil && w.Source.Synthetic.Len() > 0 &&
		w.Source.Real.Len() == l.encoded.Len() && len(l.held(w)) >= l.alignment.LeastRows()
}

// held returns the slots of D_real that an alignment encodes: those whose frames are still
// held.
func (l *Latent) held(w *agent.Work) (slots []int) {
	row := replay.FrameRow{Stack: make([][]byte, l.encoded.Stack), Next: make([][]byte, l.encoded.Stack)}
	for _, slot := range w.Source.Real.Spread(alignRows) {
		if w.Source.Frames.Window(&row, &l.encoded, slot, l.config.Gamma) == nil {
			slots = append(slots, slot)
		}
	}
	return slots
}

// alignSlice encodes rows that follow the first done ones; after the last one it fits the map.
func (l *Latent) alignSlice(w *agent.Work, done int) (n int, err error) {
	slots := l.held(w)
	n = min(encodeRows*l.config.Slice, len(slots)-done)
	stacks := make([][][]byte, n)
	row := replay.FrameRow{Next: make([][]byte, l.encoded.Stack)}
	for i, slot := range slots[done : done+n] {
		row.Stack = make([][]byte, l.encoded.Stack)
		if err := w.Source.Frames.Window(&row, &l.encoded, slot, l.config.Gamma); err != nil {
			return 0, fmt.Errorf("agent: align: %w", err)
		}
		stacks[i] = row.Stack
	}
	z, err := l.Encode(stacks)
	if err != nil {
		return 0, err
	}
	a := l.alignment
	if a.seen = append(a.seen, z...); done+n < len(slots) {
		return n, nil
	}
	then := make([]float32, 0, len(a.seen))
	for _, slot := range slots {
		then = append(then, w.Source.Real.Row(slot)[:a.Size()]...)
	}
	if err := a.Fit(then, a.seen); err != nil {
		return 0, fmt.Errorf("agent: %w", err)
	}
	a.seen, a.pass = nil, false
	return n, plan.Push(l.dev, a.Params()...)
}

// alignmentHead is the saved progress of a pass.
type alignmentHead struct {
	Pass bool
	Rows uint32
}

func (l *Latent) saveAlignment(w io.Writer) error {
	a := l.alignment
	if a == nil {
		return nil
	}
	if err := binary.Write(w, binary.LittleEndian, alignmentHead{a.pass, uint32(len(a.seen) / a.Size())}); err != nil {
		return err
	}
	if err := binary.Write(w, binary.LittleEndian, a.seen); err != nil {
		return err
	}
	return plan.Save(l.dev, w, a.Params())
}

func (l *Latent) loadAlignment(r io.Reader) error {
	a := l.alignment
	if a == nil {
		return nil
	}
	var head alignmentHead
	if err := binary.Read(r, binary.LittleEndian, &head); err != nil {
		return err
	}
	if head.Rows > alignRows || head.Rows > 0 && !head.Pass {
		return fmt.Errorf("an alignment that has seen %d rows is saved", head.Rows)
	}
	a.pass, a.seen = head.Pass, make([]float32, int(head.Rows)*a.Size())
	if err := binary.Read(r, binary.LittleEndian, a.seen); err != nil {
		return err
	}
	return plan.Load(l.dev, r, a.Params())
}
