package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/device/cpu/kernel"
	"pgrlab/core/op"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/optest"
	"pgrlab/core/window"
)

// BenchmarkOperations times operations and their gradients at the sizes of DreamerV3's 1M configuration,
// instruction by instruction with one worker: the least time, and the rate of arithmetic or, without
// matrix products, of memory.
func BenchmarkOperations(b *testing.B) {
	for _, family := range kernel.Available() {
		dev := cputest.New(b, cpu.Options{Threads: 1, Family: family})
		for _, d := range dreamerSized() {
			b.Run(family+"/"+d.Name, func(b *testing.B) {
				p, err := Build(d.Name, dev, func(g *op.Graph) Spec {
					_, outputs := d.Build(g)
					switch out := outputs[0]; {
					case len(d.Wrt) == 0:
						return Spec{Outputs: outputs}
					case out.Shape().IsScalar():
						return Spec{Loss: out, Gradients: d.Wrt}
					default:
						return Spec{Loss: g.Sum(g.Mul(out, g.Input("slope", out.Shape()...)), 1), Gradients: d.Wrt, Outputs: outputs}
					}
				})
				if err != nil {
					b.Fatal(err)
				}
				defer p.Close()
				rates(b, p)
			})
		}
	}
}

// rates reports the instructions of a program.
func rates(b *testing.B, p *Program) {
	type stage struct {
		instr int
		name  string
	}
	least := map[stage]time.Duration{}
	for b.Loop() {
		timings, err := p.exec.(device.Profiler).Profile(0, 10)
		if err != nil {
			b.Fatal(err)
		}
		for _, t := range timings {
			s := stage{t.Instr, t.Name}
			if old, seen := least[s]; t.Instr >= 0 && (!seen || t.Took < old) {
				least[s] = t.Took
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	for s, took := range least {
		in := p.code.Instrs[s.instr]
		switch {
		case !strings.HasPrefix(s.name, in.Code.String()): // what is left of a sum
			continue
		case in.Code == device.Mul || in.Code == device.Sum || in.Code == device.SumGrad: // of the loss
			continue
		}
		bytes := 4 * p.code.Buffers[in.Out].Len()
		for _, r := range in.In {
			bytes += 4 * p.code.Buffers[r].Len()
		}
		ns, rate, unit := float64(took.Nanoseconds()), float64(bytes), "GB/s"
		if strings.HasPrefix(in.Code.String(), "linear") || strings.HasPrefix(in.Code.String(), "conv") {
			rate, unit = float64(p.code.FLOPs(in)), "GFLOP/s"
		}
		name := strings.ReplaceAll(s.name, " ", "-")
		b.ReportMetric(ns/1e3, name+"-µs")
		b.ReportMetric(rate/ns, name+"-"+unit)
	}
}

// dreamerSized are single operations.
func dreamerSized() (all []optest.Example) {
	of := func(name string, wrt []*op.Tensor, build func(g *op.Graph) *op.Node) {
		all = append(all, optest.Example{Name: name, Wrt: wrt, Build: func(g *op.Graph) (*op.Node, []*op.Node) { return nil, []*op.Node{build(g)} }})
	}
	for _, cols := range []int{64, 512} {
		x, gamma := random("x", 1024, cols), random("gamma", cols)
		of(fmt.Sprintf("RMSNorm %d", cols), []*op.Tensor{x, gamma}, func(g *op.Graph) *op.Node { return g.RMSNorm(g.Bind(x), g.Bind(gamma), 1e-4) })
	}
	logits, u := random("logits", 1024, 128), op.NewTensor("u", 1024, 32)
	seed.Sub("u").FillUniform(u.Data, 0, 0)
	of("GroupSoftmax", []*op.Tensor{logits}, func(g *op.Graph) *op.Node { return g.GroupSoftmax(g.Bind(logits), 4, 0.01) })
	of("GroupSample", nil, func(g *op.Graph) *op.Node {
		return g.GroupSample(g.GroupSoftmax(g.Bind(logits), 4, 0.01), g.Bind(u), 4)
	})
	z, x, bins := random("z", 1024, 255), random("x", 1024, 1), op.NewTensor("bins", 255)
	for i := range bins.Data {
		bins.Data[i] = float32(i-127) / 40
	}
	of("CrossEntropy", []*op.Tensor{z}, func(g *op.Graph) *op.Node {
		return g.CrossEntropy(g.Bind(z), g.TwoHotAt(g.Bind(x), g.Bind(bins)), 1024)
	})
	of("BinMean", nil, func(g *op.Graph) *op.Node { return g.BinMean(g.Bind(z), g.Bind(bins)) })
	wide := random("wide", 1024, 512)
	of("SplitColumns", []*op.Tensor{wide}, func(g *op.Graph) *op.Node { return g.SplitColumns(g.Bind(wide), 8) })
	y, h := random("y", 8, 1024, 192), random("h", 8, 1024, 64)
	of("GatedUpdate", []*op.Tensor{y, h}, func(g *op.Graph) *op.Node { return g.GatedUpdate(g.Bind(y), g.Bind(h)) })
	for _, s := range [][4]int{{8, 1024, 256, 64}, {8, 16, 256, 64}, {0, 1024, 64, 64}, {0, 16, 64, 64}} {
		lead := func(shape ...int) []int {
			if s[0] == 0 {
				return shape
			}
			return append([]int{s[0]}, shape...)
		}
		x, w, bias := random("x", lead(s[1], s[2])...), random("w", lead(s[2], s[3])...), random("b", lead(s[3])...)
		of(fmt.Sprintf("Linear %v", s), []*op.Tensor{x, w, bias}, func(g *op.Graph) *op.Node { return g.Linear(g.Bind(x), g.Bind(w), g.Bind(bias)) })
	}
	return append(all, frameSized()...)
}

// frameSized are the layers beside the frames of an encoder and a decoder of images, 16 frames of 64×64×3.
func frameSized() []optest.Example {
	const frames, depth = 16, 32
	over := window.Geometry{Height: 64, Width: 64, Channels: 3, Kernel: 5, Stride: 1, Pad: 2}
	pool := window.Geometry{Height: 64, Width: 64, Channels: depth, Kernel: 2, Stride: 2}
	x, w, b, gamma := random("x", frames, over.Size()), random("w", over.Patch(), depth), random("b", depth), random("gamma", depth)
	encode := func(g *op.Graph) (*op.Node, []*op.Node) {
		h := g.MaxPool(g.Conv(g.Bind(x), g.Bind(w), g.Bind(b), over), pool)
		return nil, []*op.Node{g.SiLU(g.RMSNorm(h, g.Bind(gamma), 1e-4))}
	}
	small := window.Geometry{Height: 32, Width: 32, Channels: depth}
	last := window.Geometry{Height: 64, Width: 64, Channels: depth, Kernel: 5, Stride: 1, Pad: 2}
	h, v, c := random("h", frames, small.Size()), random("v", last.Patch(), 3), random("c", 3)
	decode := func(g *op.Graph) (*op.Node, []*op.Node) {
		p := g.Sigmoid(g.Conv(g.Upsample(g.Bind(h), small), g.Bind(v), g.Bind(c), last))
		t := g.FromBytes(g.Input("frames", frames, op.Words(over.Size())), over.Size(), 0)
		return nil, []*op.Node{g.SquaredError(p, t, frames)}
	}
	return []optest.Example{
		{Name: "from frames", Wrt: []*op.Tensor{w, b, gamma}, Build: encode},
		{Name: "to frames", Wrt: []*op.Tensor{h, v, c}, Build: decode},
	}
}
