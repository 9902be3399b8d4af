package drqv2

import (
	"encoding/binary"
	"fmt"
	"io"

	"gonum.org/v1/gonum/mat"

	"pgrlab/core/agent"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// alignRows is how many rows of D_real are looked at anew for an alignment, spread evenly.
const alignRows = 2048

// alignment takes latents of the encoder that D_real was made with, which a generator was
// fitted to, to those of the present one: z·w + b, by least squares over rows of D_real.
// Generated rows pass it where an update reads them; D_syn stays as it is.
type alignment struct {
	w, b *op.Tensor // [2F,2F], [2F]
	seen []float32  // [rows,2F], of a pass under way: latents of the first rows as they are now
	pass bool       // one is under way
}

func newAlignment(size int) *alignment {
	a := &alignment{w: op.NewTensor("alignment.w", size, size), b: op.NewTensor("alignment.b", size)}
	a.reset()
	return a
}

func (a *alignment) size() int { return len(a.b.Data) }

// reset makes it the identity: D_real is of the present encoder.
func (a *alignment) reset() {
	clear(a.w.Data)
	clear(a.b.Data)
	for i := range a.b.Data {
		a.w.Data[i*a.size()+i] = 1
	}
	a.seen, a.pass = nil, false
}

// leastRows is how many rows a map needs: as many as it has weights for one number.
func (a *alignment) leastRows() int { return a.size() + 1 }

// fit makes it the map of then to now, rows [n,2F]. Its difference from the identity is
// shrunk as if a thousandth of the rows more had shown none, along every direction that
// latents have: they vary along a few only.
func (a *alignment) fit(then, now []float32) error {
	d := a.size()
	n := len(then) / d
	x, moved := mat.NewDense(n, d+1, nil), mat.NewDense(n, d, nil)
	for i := range n {
		x.Set(i, d, 1)
		for j := range d {
			x.Set(i, j, float64(then[i*d+j]))
			moved.Set(i, j, float64(now[i*d+j])-float64(then[i*d+j]))
		}
	}
	squares := mat.NewSymDense(d+1, nil)
	squares.SymOuterK(1, x.T())
	for i := range d + 1 {
		squares.SetSym(i, i, squares.At(i, i)+float64(n)/1000)
	}
	var products, solved mat.Dense
	products.Mul(x.T(), moved)
	var c mat.Cholesky
	if !c.Factorize(squares) {
		return fmt.Errorf("agent: align: no map of %d rows of latents", n)
	}
	if err := c.SolveTo(&solved, &products); err != nil {
		return fmt.Errorf("agent: align: %w", err)
	}
	a.reset()
	for j := range d {
		for i := range d {
			a.w.Data[i*d+j] += float32(solved.At(i, j))
		}
		a.b.Data[j] = float32(solved.At(d, j))
	}
	return nil
}

// apply is z·w + b of rows [n,2F].
func (a *alignment) apply(z []float32) []float32 {
	d := a.size()
	out := make([]float32, len(z))
	for first := 0; first < len(z); first += d {
		row := out[first : first+d]
		copy(row, a.b.Data)
		for i, v := range z[first : first+d] {
			for j, w := range a.w.Data[i*d : (i+1)*d] {
				row[j] += float32(v * w)
			}
		}
	}
	return out
}

// present are generated latents as the present encoder would say them.
func (x *Agent) present(g *op.Graph, z *op.Node) *op.Node {
	if x.alignment == nil {
		return z
	}
	return g.Linear(z, g.Bind(x.alignment.w), g.Bind(x.alignment.b))
}

// Align returns rows of D_real, or of D_syn, as updates read generated ones: as the present
// encoder would say them, where the learner keeps account of that; else z itself.
func (l *Latent) Align(z []float32) []float32 {
	if l.alignment == nil {
		return z
	}
	return l.alignment.apply(z)
}

// aligns says whether the env step looks at D_real anew, to align D_syn with the present
// encoder.
func (l *Latent) aligns(w *agent.Work) bool {
	return l.alignment != nil && !w.Refit && w.Step%l.config.AlignEvery == 0 && w.Source.Synthetic != nil && w.Source.Synthetic.Len() > 0 &&
		w.Source.Real.Len() == l.encoded.Len() && len(l.held(w)) >= l.alignment.leastRows()
}

// held are the slots of D_real that an alignment looks at: those whose frames are there.
func (l *Latent) held(w *agent.Work) (slots []int) {
	row := replay.FrameRow{Stack: make([][]byte, l.encoded.Stack), Next: make([][]byte, l.encoded.Stack)}
	for _, slot := range w.Source.Real.Spread(alignRows) {
		if w.Source.Frames.Window(&row, &l.encoded, slot, l.config.Gamma) == nil {
			slots = append(slots, slot)
		}
	}
	return slots
}

// alignSlice looks at the rows behind the first done; behind the last one it fits the map.
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
		then = append(then, w.Source.Real.Row(slot)[:a.size()]...)
	}
	if err := a.fit(then, a.seen); err != nil {
		return 0, err
	}
	return n, plan.Push(l.dev, a.w, a.b)
}

// alignmentHead says how far a pass is.
type alignmentHead struct {
	Pass bool
	Rows uint32
}

func (l *Latent) saveAlignment(w io.Writer) error {
	a := l.alignment
	if a == nil {
		return nil
	}
	if err := binary.Write(w, binary.LittleEndian, alignmentHead{a.pass, uint32(len(a.seen) / a.size())}); err != nil {
		return err
	}
	if err := binary.Write(w, binary.LittleEndian, a.seen); err != nil {
		return err
	}
	return plan.Save(l.dev, w, []*op.Tensor{a.w, a.b})
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
	a.pass, a.seen = head.Pass, make([]float32, int(head.Rows)*a.size())
	if err := binary.Read(r, binary.LittleEndian, a.seen); err != nil {
		return err
	}
	return plan.Load(l.dev, r, []*op.Tensor{a.w, a.b})
}
