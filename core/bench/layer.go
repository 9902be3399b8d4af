package bench

import (
	"fmt"
	"math"

	"pgrlab/core/device"
	"pgrlab/core/rng"
)

// Layer is the shape of a linear layer: for each member, x [rows, in] times w [in, out] plus a
// bias. Its forward and backward passes have one matrix product in each of the three layouts.
type Layer struct{ Members, Rows, In, Out int }

func (l Layer) String() string {
	text := fmt.Sprintf("a layer of %d×%d×%d", l.Rows, l.In, l.Out)
	if l.Members > 1 {
		text += fmt.Sprintf(" of %d members", l.Members)
	}
	return text
}

// program returns the three products on normal random numbers, rounded by round.
func (l Layer) program(round func(float32) float32) *device.Program {
	p := &device.Program{Name: "layer"}
	numbers := rng.New(1, "layer")
	buffer := func(name string, members, rows, cols int) device.Ref {
		b := device.Buffer{Name: name, Members: members, Rows: rows, Cols: cols}
		if name != "" {
			b.Host = make([]float32, b.Len())
			numbers.Sub(name).FillNormal(b.Host, 0, 0)
			for i, v := range b.Host {
				b.Host[i] = round(v)
			}
		}
		p.Buffers = append(p.Buffers, b)
		return device.Ref(len(p.Buffers) - 1)
	}
	x, w := buffer("x", l.Members, l.Rows, l.In), buffer("w", l.Members, l.In, l.Out)
	bias, dz := buffer("b", 1, l.Members, l.Out), buffer("dz", l.Members, l.Rows, l.Out)
	for _, in := range []device.Instr{
		{Code: device.Linear, In: []device.Ref{x, w, bias}, Out: buffer("", l.Members, l.Rows, l.Out)},
		{Code: device.LinearDX, In: []device.Ref{dz, w}, Out: buffer("", l.Members, l.Rows, l.In)},
		{Code: device.LinearDW, In: []device.Ref{x, dz}, Out: buffer("", l.Members, l.In, l.Out)},
	} {
		in.Mask = device.None
		p.Instrs, p.Keep = append(p.Instrs, in), append(p.Keep, in.Out)
	}
	return p
}

// results returns a device's results for the layer's three products.
func (l Layer) results(dev device.Device, round func(float32) float32) ([3][]float32, error) {
	var all [3][]float32
	p := l.program(round)
	x, err := dev.Compile(p)
	if err != nil {
		return all, err
	}
	if err := x.Run(0); err != nil {
		x.Close()
		return all, err
	}
	for i, r := range p.Keep {
		all[i] = append([]float32(nil), x.Data(r)...)
	}
	return all, x.Close()
}

// Agree has two devices compute the layer on rounded operands and says where the results differ by
// more than bound, relative to the largest number.
func (l Layer) Agree(dev, reference device.Device, round func(float32) float32, bound float64) error {
	want, err := l.results(reference, round)
	if err != nil {
		return err
	}
	got, err := l.results(dev, round)
	if err != nil {
		return fmt.Errorf("%v: %w", l, err)
	}
	for i, what := range []string{"its result", "its gradient by x", "its gradient by w"} {
		if err := near(fmt.Sprintf("%v: %s", l, what), got[i], want[i], bound); err != nil {
			return err
		}
	}
	return nil
}

// near says where numbers differ by more than bound, relative to the largest.
func near(what string, got, want []float32, bound float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d numbers, %d were expected", what, len(got), len(want))
	}
	largest, worst, at := 0.0, 0.0, 0
	for i, w := range want {
		largest = max(largest, math.Abs(float64(w)))
		d := math.Abs(float64(got[i] - w))
		if d != d { // it compares as false with what follows, and would be forgotten
			d = math.Inf(1)
		}
		if d > worst {
			worst, at = d, i
		}
	}
	if !(worst <= bound*largest) {
		return fmt.Errorf("%s: off by %.2g at number %d where the largest is %.2g; at most %.2g was expected", what, worst, at, largest, bound*largest)
	}
	return nil
}
