package generative

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"pgrlab/core/device"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// The choices of HeadConfig.Kind.
const (
	// HeadNone leaves transitions as the generator made them, as the papers do.
	HeadNone = "none"
	// HeadTransition takes s' from a regression of s' − s on (s, a), and then r, and d if it is
	// modelled, from one on (s, a, s'). Where the task says which transitions end an episode
	// (Deps.Ends), d is what it says of the row. Only s and a come from the generator.
	HeadTransition = "transition"
)

// The choices of HeadConfig.Bounds.
const (
	// BoundsNone takes s' as the regression predicts it, wherever that is.
	BoundsNone = "none"
	// BoundsReal limits every coordinate of a predicted s' to the range that it has in the real
	// transitions of the fit, as min-max normalisation limits whole generated transitions. A
	// regression far from its data predicts s' of ten deviations and more, at which critics
	// extrapolate; few such rows make a critic diverge.
	BoundsReal = "real"
)

// HeadConfig describes networks that are fitted beside a generator, by squared error on
// the same real transitions, and that label its rows. In a task without noise s' and r
// are functions of s and a. A regression learns them with a small part of the work that
// a model of the joint distribution needs, and a sharp r stays sharp.
type HeadConfig struct {
	Kind   string  `toml:"kind"`   // "none" (also if empty) or "transition"
	Width  int     `toml:"-"`      // of the hidden layers; 0: 128
	Layers int     `toml:"-"`      // hidden layers; 0: 2
	Batch  int     `toml:"batch"`  // rows of a gradient step; 0: 128
	LR     float64 `toml:"lr"`     // of the first gradient step; it falls as the generator's does; 0: 4e-3
	Bounds string  `toml:"bounds"` // of a predicted s': "none" (also if empty) or "real"
}

// filled replaces zeros by our choice: half the width of the critics' networks, and two layers.
func (h HeadConfig) filled() HeadConfig {
	if h.Width == 0 {
		h.Width = 128
	}
	if h.Layers == 0 {
		h.Layers = 2
	}
	if h.Batch == 0 {
		h.Batch = 128
	}
	if h.LR == 0 {
		h.LR = 4e-3
	}
	return h
}

// Enabled says whether h asks for heads.
func (h HeadConfig) Enabled() bool { return h.Kind != HeadNone && h.Kind != "" }

// Validate says in one line what is wrong with h, or returns nil.
func (h HeadConfig) Validate() error {
	h = h.filled()
	switch {
	case !slices.Contains([]string{HeadNone, HeadTransition, ""}, h.Kind):
		return fmt.Errorf("generator: head.kind is %q, want one of %q", h.Kind, []string{HeadNone, HeadTransition})
	case !slices.Contains([]string{BoundsNone, BoundsReal, ""}, h.Bounds):
		return fmt.Errorf("generator: head.bounds is %q, want one of %q", h.Bounds, []string{BoundsNone, BoundsReal})
	case !h.Enabled():
		return nil
	case h.Width < 1 || h.Layers < 1 || h.Batch < 1:
		return fmt.Errorf("generator: head.width is %d, head.layers %d and head.batch %d, want at least 1", h.Width, h.Layers, h.Batch)
	case !(h.LR > 0):
		return fmt.Errorf("generator: head.lr is %g, want a positive number", h.LR)
	}
	return nil
}

// Memory estimates how many bytes the heads take for transitions of that shape.
func (h HeadConfig) Memory(obs, act int) float64 {
	if !h.Enabled() {
		return 0
	}
	h = h.filled()
	in := 4*obs + act // at most a sine and a cosine for each coordinate of s and s'
	hidden := (float64(h.Layers)-1)*nn.Parameters(h.Width, h.Width) + nn.Parameters(in, h.Width) + nn.Parameters(h.Width, obs+2)
	return 4 * 2 * (5*hidden + float64(max(h.Batch, headRows))*(float64(h.Layers)*float64(h.Width)+float64(in)))
}

// headRows is how many rows the heads label in one run.
const headRows = 256

// scaling maps numbers to mean 0 and standard deviation 1.
type scaling struct{ mean, scale []float64 }

func newScaling(n int) scaling { return scaling{make([]float64, n), make([]float64, n)} }

// fit takes the scaling of a number of vectors; at writes vector i. A constant number maps
// to 0.
func (s scaling) fit(rows int, at func(dst []float64, i int)) {
	x := make([]float64, len(s.mean))
	clear(s.mean)
	clear(s.scale)
	for i := range rows {
		at(x, i)
		for j, v := range x {
			s.mean[j] += v / float64(rows)
		}
	}
	for i := range rows {
		at(x, i)
		for j, v := range x {
			s.scale[j] += (v - s.mean[j]) * (v - s.mean[j]) / float64(rows)
		}
	}
	for j, v := range s.scale {
		if s.scale[j] = math.Sqrt(v); !(s.scale[j] > 1e-6*(1+math.Abs(s.mean[j]))) {
			s.scale[j] = math.Inf(1)
		}
	}
}

// headLayout says which parts of a row the heads read and write.
type headLayout struct {
	layout
	turning []bool // coordinates of s that are angles without limits
}

// observed is how many numbers describe an observation: two for an angle without limits.
func (l headLayout) observed() int {
	n := l.obs
	for _, is := range l.turning {
		if is {
			n++
		}
	}
	return n
}

// describe writes the description of an observation, which hides whole turns of angles.
func (l headLayout) describe(dst []float64, obs []float32) {
	n := 0
	for j, v := range obs[:l.obs] {
		if l.turning[j] {
			dst[n], dst[n+1] = math.Sincos(float64(v))
			n += 2
			continue
		}
		dst[n] = float64(v)
		n++
	}
}

// before writes the inputs that predict s': s and a.
func (l headLayout) before(dst []float64, row []float32) {
	l.describe(dst, row)
	for j, v := range row[l.obs : l.obs+l.act] {
		dst[l.observed()+j] = float64(v)
	}
}

// both writes the inputs that predict r: s, a and s'.
func (l headLayout) both(dst []float64, row []float32) {
	l.before(dst, row)
	l.describe(dst[l.observed()+l.act:], row[l.reward()+1:])
}

// change writes s' − s.
func (l headLayout) change(dst []float64, row []float32) {
	for j := range l.obs {
		dst[j] = float64(row[l.reward()+1+j]) - float64(row[j])
	}
}

// outcome writes r, and d if it is modelled.
func (l headLayout) outcome(dst []float64, row []float32) {
	dst[0] = float64(row[l.reward()])
	if l.terminals {
		dst[1] = float64(row[l.terminal()])
	}
}

// outcomes is how many numbers outcome writes.
func (l headLayout) outcomes() int {
	if l.terminals {
		return 2
	}
	return 1
}

// head is one regression: its statistics, its network under fit, its served network, and
// its programs.
type head struct {
	in, out        int
	read, want     func(dst []float64, row []float32)
	reads, writes  scaling    // of the network under fit
	served         [2]scaling // of the served network
	model, serving nn.MLP

	x, y    *op.Tensor // of a gradient step, [B,in] and [B,out]
	labels  *plan.Program
	labelX  *op.Node // [headRows,in]
	labelY  *op.Node
	scratch []float64
}

func newHead(name string, c HeadConfig, in, out int, read, want func([]float64, []float32), s rng.Stream) *head {
	h := &head{in: in, out: out, read: read, want: want, reads: newScaling(in), writes: newScaling(out), scratch: make([]float64, max(in, out))}
	h.served = [2]scaling{newScaling(in), newScaling(out)}
	sizes := []int{in}
	for range c.Layers {
		sizes = append(sizes, c.Width)
	}
	sizes = append(sizes, out)
	h.model = nn.NewMLP(name, sizes, nn.TorchDefault, nn.SiLU, s.Sub("initial"))
	h.serving = nn.NewMLP(name+".served", sizes, nn.TorchDefault, nn.SiLU, s.Sub("initial"))
	return h
}

// draw builds the squared error of a batch.
func (h *head) draw(g *op.Graph, name string, batch int) *op.Node {
	h.x, h.y = op.NewTensor(name+".x", batch, h.in), op.NewTensor(name+".y", batch, h.out)
	return g.SquaredError(h.model.Apply(g, g.Bind(h.x)), g.Bind(h.y), float64(batch*h.out))
}

// compile compiles the program that labels rows.
func (h *head) compile(name string, dev device.Device) error {
	g, err := op.Build(name, func(g *op.Graph) {
		h.labelX = g.Input("x", headRows, h.in)
		h.labelY = h.serving.Apply(g, h.labelX)
	})
	if err != nil {
		return err
	}
	h.labels, err = plan.Compile(g, plan.Spec{Outputs: []*op.Node{h.labelY}, Finite: []*op.Node{h.labelY}}, dev)
	return err
}

// fit takes the statistics of the real transitions.
func (h *head) fit(rows Rows) error {
	h.reads.fit(rows.Len(), func(dst []float64, i int) { h.read(dst, rows.Row(i)) })
	h.writes.fit(rows.Len(), func(dst []float64, i int) { h.want(dst, rows.Row(i)) })
	for _, s := range []scaling{h.reads, h.writes} {
		for j := range s.mean {
			if math.IsNaN(s.mean[j]+1/s.scale[j]) || math.IsInf(s.mean[j], 0) {
				return errors.New("a real transition is not finite")
			}
		}
	}
	return nil
}

// put writes the scaled vector that write takes from a row.
func (h *head) put(dst []float32, s scaling, write func([]float64, []float32), row []float32) {
	x := h.scratch[:len(s.mean)]
	write(x, row)
	for j, v := range x {
		dst[j] = float32((v - s.mean[j]) / s.scale[j])
	}
}

// batch writes row i of a gradient step.
func (h *head) batch(i int, row []float32) {
	h.learns(h.x.Data[i*h.in:(i+1)*h.in], h.y.Data[i*h.out:(i+1)*h.out], row)
}

// learns writes what a gradient step learns of a row: x and y, scaled.
func (h *head) learns(x, y, row []float32) {
	h.put(x, h.reads, h.read, row)
	h.put(y, h.writes, h.want, row)
}

// label calls set for each of up to headRows rows, with the output of the served network.
func (h *head) label(rows []float32, width int, set func(row []float32, y []float64)) error {
	n := len(rows) / width
	x := h.labels.Data(h.labelX)
	for i := range n {
		h.put(x[i*h.in:(i+1)*h.in], h.served[0], h.read, rows[i*width:])
	}
	if err := h.labels.Run(0); err != nil {
		return err
	}
	y, out := h.labels.Data(h.labelY), h.scratch[:h.out]
	for i := range n {
		for j := range out {
			out[j] = h.served[1].mean[j]
			if s := h.served[1].scale[j]; !math.IsInf(s, 1) {
				out[j] += s * float64(y[i*h.out+j])
			}
		}
		set(rows[i*width:(i+1)*width], out)
	}
	return nil
}

// serve makes the fitted network the served one, which labels rows.
func (h *head) serve(dev device.Device) error {
	for i, s := range []scaling{h.reads, h.writes} {
		copy(h.served[i].mean, s.mean)
		copy(h.served[i].scale, s.scale)
	}
	return plan.Copy(dev, h.serving.Params(), h.model.Params())
}
