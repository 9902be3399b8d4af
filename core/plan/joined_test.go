package plan

import (
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/optest"
)

// joining is a device that joins from a number of columns on, and notes the instructions that it
// gets.
type joining struct {
	device.Device
	from  int
	codes *[]device.Code
}

func (j joining) JoinFrom() int { return j.from }

func (j joining) Compile(p *device.Program) (device.Executable, error) {
	for _, in := range p.Instrs {
		*j.codes = append(*j.codes, in.Code)
	}
	return j.Device.Compile(p)
}

// A device says from how many columns layers read two operands where they are, and gets no copy of
// such operands; the numbers are the same, but for the order of sums.
func TestADeviceSaysFromWhereLayersJoin(t *testing.T) {
	on := cputest.New(t, cpu.Options{Threads: 1})
	x, a, layer := random("x", 33, 17), random("a", 33, 6), nn.NewLinear("q", 23, 9, nn.TorchDefault, seed)
	var gradients [][]float32
	for _, c := range []struct {
		from          int
		copied, joins bool
	}{{7, true, false}, {6, false, true}, {1, false, true}} {
		var codes []device.Code
		p, err := Build("joined", joining{on, c.from, &codes}, func(g *op.Graph) Spec {
			y := layer.Apply(g, g.Concat(g.Bind(x), g.Bind(a)))
			return Spec{Loss: g.Sum(g.Square(y), 1), Gradients: layer.Params()}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		has := func(code device.Code) bool { return slices.Contains(codes, code) }
		if has(device.Concat) != c.copied || has(device.LinearJoined) != c.joins || has(device.LinearJoinedDW) != c.joins {
			t.Errorf("from %d columns on: %v", c.from, codes)
		}
		if err := p.Run(0); err != nil {
			t.Fatal(err)
		}
		dw, err := p.Gradient(layer.W)
		if err != nil {
			t.Fatal(err)
		}
		gradients = append(gradients, slices.Clone(dw))
	}
	want := make([]float64, len(gradients[0]))
	for i, v := range gradients[0] {
		want[i] = float64(v)
	}
	for _, got := range gradients[1:] {
		optest.Near(t, "gradient of the weights", got, want, 1e-5)
	}
}
