package cpu

import (
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
	"pgrlab/core/testing/racing"
)

// delayed is a device whose shares wait a random time before every stage, and on whose programs all
// workers work.
type delayed struct{ *Device }

func (d delayed) Compile(p *device.Program) (device.Executable, error) {
	e, err := d.Device.Compile(p)
	if err != nil {
		return nil, err
	}
	x := e.(*executable)
	x.small, x.choice.Fixed = false, true
	for _, segment := range x.job.segments {
		for i := range segment {
			run := segment[i].run
			segment[i].run = func(s share) {
				for range rand.IntN(40) {
					runtime.Gosched()
				}
				run(s)
			}
		}
	}
	return e, nil
}

// Eight updates by one worker, and by more workers with random delays, end in the same weights,
// bit for bit: with lanes divided by rows, by members, and by parts of large weights. The long form
// makes sixty.
func TestDelaysDoNotChangeBits(t *testing.T) {
	seed, updates := rng.New(1, "delays"), racing.Few(8, 4)
	if os.Getenv("PGRLAB_SOAK") != "" {
		updates = 60
	}
	weights := func(threads int, wrap func(*Device) device.Device) (all [][]float32) {
		dev, err := New(Options{Threads: threads, LeastShare: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		nets := []nn.MLP{
			nn.NewMLP("rows", []int{20, 64, 64, 3}, nn.XavierUniform, nn.ReLU, seed),
			nn.NewEnsembleMLP("members", 4, []int{20, 48, 48, 1}, nn.XavierUniform, nn.ReLU, seed),
			nn.NewMLP("parts", []int{20, 400, 400, 3}, nn.XavierUniform, nn.Mish, seed),
		}
		const batch = 70
		for _, net := range nets {
			x, rate := op.NewTensor("x", batch, 20), op.NewTensor("rate", 1)
			seed.FillNormal(x.Data, 0, 0)
			rate.Data[0] = 1e-3
			var s plan.Spec
			g, err := op.Build("delayed", func(g *op.Graph) {
				out := net.Apply(g, g.Bind(x))
				width := out.Shape()[out.Dims()-1]
				s.Loss = g.SquaredError(out, g.Input("y", batch, width), batch)
			})
			if err != nil {
				t.Fatal(err)
			}
			c := plan.DefaultAdam
			c.ClipNorm = 1
			s.Optimiser = plan.NewAdam(net.Params(), c, rate)
			p, err := plan.Compile(g, s, wrap(dev))
			if err != nil {
				t.Fatal(err)
			}
			for i := range uint64(updates) {
				if err := p.Run(i); err != nil {
					t.Fatal(err)
				}
			}
			for _, w := range net.Params() {
				all = append(all, slices.Clone(w.Data))
			}
		}
		return all
	}
	one := weights(1, func(d *Device) device.Device { return d })
	for _, threads := range []int{2, 5} {
		for i, w := range weights(threads, func(d *Device) device.Device { return delayed{d} }) {
			if !slices.Equal(one[i], w) {
				t.Errorf("parameter %d differs between one worker and %d delayed ones", i, threads)
			}
		}
	}
}
