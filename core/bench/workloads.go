package bench

import (
	"slices"

	"pgrlab/core/device"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// The shapes are those of quadruped-walk, the largest of the paper's tasks.
const (
	rows  = 256
	obs   = 78
	act   = 12
	width = 2*obs + act + 1
)

// Workloads lists everything that can be timed.
var Workloads = []Workload{
	{Name: "critic", Doc: "one critic 90-256-256-1, batch 256: forward, backward, Adam", Program: critics(1)},
	{Name: "twin", Doc: "two critics, as SAC", Program: critics(2)},
	{Name: "redq10", Doc: "ten critics, as REDQ", Program: critics(10)},
	{Name: "sac", Doc: "a whole SAC update: batch, target, critics, Polyak; policy and temperature every 20th", Make: update},
	{Name: "env-step", Doc: "20 of them, as in an env step: one launch where the device can", Make: envStep},
	{Name: "env-step-icm", Doc: "the same with an update of the curiosity model, beside them where the device can", Make: curiousEnvStep},
	{Name: "denoiser-1024", Doc: "residual network of 6 blocks of 1024, batch 256: forward, backward, Adam", Program: denoiser(1024, nn.ReLU)},
	{Name: "denoiser-2048", Doc: "the same of 2048, with Mish", Program: denoiser(2048, nn.Mish)},
	{Name: "sample-1024x4096", Doc: "one network call on 4,096 rows", Program: sample(1024, 4096, nn.ReLU)},
	{Name: "sample-1024x100000", Doc: "the same on 100,000 rows, as the paper's sampler: for a GPU", Large: true, Program: sample(1024, 100_000, nn.ReLU)},
	{Name: "sample-2048x4096", Doc: "4,096 rows of 2048, with Mish: a chunk of the presets' sampling", Large: true, Program: sample(2048, 4096, nn.Mish)},
	{Name: "sample-2048x100000", Doc: "the same of 2048, with Mish", Large: true, Program: sample(2048, 100_000, nn.Mish)},
	{Name: "fit-release", Doc: "ten gradient steps of scale release's diffusion model of 26 million weights: batches, average", Large: true, Make: fitRelease},
	{Name: "call-release", Doc: "a call of its sampler for 4,096 rows, in turn of two estimates and of one", Large: true, Make: callRelease(releaseChunk)},
	{Name: "call-release-2048", Doc: "the same for 2,048 rows, which are nearer to a GPU's second-level cache", Large: true, Make: callRelease(2048)},
	{Name: "call-release-8192", Doc: "the same for 8,192 rows", Large: true, Make: callRelease(8192)},
	{Name: "sampler-512x256", Doc: "256 transitions from the whole guided sampler: 32 levels, width 512, 4 blocks", Make: sampler},
	{Name: "icm", Doc: "an update of the curiosity model, width 256, batch 256", Make: icm},
	{Name: "mbpo-fit", Doc: "a step of seven models of cheetah-run's dynamics, four layers of 200, 256 rows each: rows drawn, forward, backward, Adam", Make: modelFit},
	{Name: "mbpo-rollout", Doc: "100,000 rollouts of one step in five of them: actions of a policy of 256-256, samples, rows of D_syn", Make: rollout},
	{Name: "encoder", Doc: "DrQ-v2's four convolutions of 84×84×9, batch 256: forward", Large: true, Program: encoder(paperPixels)},
	{Name: "encoder-fit", Doc: "the same: forward, backward, Adam", Large: true, Program: encoderFit(paperPixels)},
	{Name: "encoder-demo", Doc: "64×64×9, batch 128: forward, backward, Adam", Large: true, Program: encoderFit(demoPixels)},
	{Name: "drqv2", Doc: "a whole DrQ-v2 update of 84×84 frames, batch 256, width 1024: shift, critic, encoder, actor, average", Large: true, Make: frameUpdate{paperPixels, 1024, 32}.update},
	{Name: "drqv2-demo", Doc: "the same of 64×64 frames, batch 128, width 256", Large: true, Make: frameUpdate{demoPixels, 256, 128}.update},
	{Name: "ppo-rays", Doc: "a step of PPO on 1,024 rows of 160 numbers, layers of 128 and 64: rows gathered, forward, backward, Adam", Make: minibatch(raysPPO)},
	{Name: "ppo-rgb84", Doc: "the same on 768 frames of 84×84, convolutions of 32, 64 and 64 channels and a layer of 512", Large: true, Make: minibatch(framesPPO)},
	{Name: "ppo-act", Doc: "one choice of it in each of 16 mazes", Make: choosing},
	{Name: "dreamer-1m", Doc: "a whole DreamerV3 update: 16 sequences of 64, 15 imagined env steps, 0.64 million parameters", Make: worldModel},
	{Name: "act", Doc: "one stochastic action", Make: acting},
	{Name: "launches", Doc: "nop a thousand times, as one where the device can: what a launch costs", Make: launches},
	{Name: "copy-32", Doc: "16 MB of numbers copied, 32 moved: what the caches give", Program: copying(16)},
	{Name: "copy-800", Doc: "400 MB of numbers copied, 800 moved: what the memory gives", Large: true, Program: copying(400)},
	{Name: "nop", Doc: "two numbers doubled: what a run costs that does next to nothing", Program: nop},
}

func random(name string, shape ...int) *op.Tensor {
	t := op.NewTensor(name, shape...)
	rng.New(1, "bench").Sub(name).FillNormal(t.Data, 0, 0)
	return t
}

// maker prepares a workload that is one program and returns the number of floating-point operations
// of a run.
type maker func(dev device.Device) (*plan.Program, float64, error)

// fit returns a program that fits a network to random numbers, which stay on the device.
func fit(dev device.Device, name string, params, data []*op.Tensor, build func(g *op.Graph) *op.Node) (*plan.Program, error) {
	return fitAt(3e-4, dev, name, params, data, build)
}

// fitAt is fit with a given learning rate.
func fitAt(lr float32, dev device.Device, name string, params, data []*op.Tensor, build func(g *op.Graph) *op.Node) (*plan.Program, error) {
	var loss *op.Node
	g, err := op.Build(name, func(g *op.Graph) { loss = build(g) })
	if err != nil {
		return nil, err
	}
	rate := op.NewTensor("rate", 1)
	rate.Data[0] = lr
	p, err := plan.Compile(g, plan.Spec{Loss: loss, Optimiser: plan.NewAdam(params, plan.DefaultAdam, rate)}, dev)
	if err != nil {
		return nil, err
	}
	return p, plan.Push(dev, data...)
}

// nop is a run of one small kernel: its launch and the wait for it.
func nop(dev device.Device) (*plan.Program, float64, error) {
	var y *op.Node
	g, err := op.Build("nop", func(g *op.Graph) { y = g.Scale(g.Bind(random("x", 2)), 2) })
	if err != nil {
		return nil, 0, err
	}
	p, err := plan.Compile(g, plan.Spec{Outputs: []*op.Node{y}}, dev)
	return p, 0, err
}

// launches runs nop a thousand times: as one sequence on a device that has them, where nothing but launches takes time.
func launches(dev device.Device) (func(uint64) error, float64, error) {
	const thousand = 1000
	p, _, err := nop(dev)
	if err != nil {
		return nil, 0, err
	}
	sequencer, can := dev.(device.Sequencer)
	if !can {
		return func(i uint64) error {
			for range thousand {
				if err := p.Run(i); err != nil {
					return err
				}
			}
			return nil
		}, 0, nil
	}
	s, err := plan.NewSequence(sequencer, slices.Repeat([]*plan.Program{p}, thousand))
	if err != nil {
		return nil, 0, err
	}
	return func(uint64) error { return s.Run(make([]uint64, thousand)) }, 0, nil
}

func critics(n int) maker {
	return func(dev device.Device) (*plan.Program, float64, error) {
		sizes := []int{obs + act, 256, 256, 1}
		net := nn.NewMLP("q", sizes, nn.XavierUniform, nn.ReLU, rng.New(1, "bench"))
		if n > 1 {
			net = nn.NewEnsembleMLP("q", n, sizes, nn.XavierUniform, nn.ReLU, rng.New(1, "bench"))
		}
		x, y := random("x", rows, obs+act), random("y", rows, 1)
		p, err := fit(dev, "critics", net.Params(), []*op.Tensor{x, y}, func(g *op.Graph) *op.Node {
			return g.SquaredError(net.Apply(g, g.Bind(x)), g.Bind(y), rows)
		})
		// The first layer needs no gradient for its input.
		first, rest := float64(sizes[0]*sizes[1]), float64(256*256+256)
		return p, 2 * float64(n*rows) * (2*first + 3*rest), err
	}
}

// residual is the trunk of the denoisers: in, blocks of h + W·act(h), act, out.
func residual(g *op.Graph, x *op.Node, in, out nn.Linear, blocks []nn.Linear, act nn.Activation) *op.Node {
	h := in.Apply(g, x)
	for _, b := range blocks {
		h = g.Add(h, b.Apply(g, act(g, h)))
	}
	return out.Apply(g, act(g, h))
}

func layers(dim int) (in, out nn.Linear, blocks []nn.Linear, params []*op.Tensor) {
	s := rng.New(1, "bench")
	in, out = nn.NewLinear("in", width, dim, nn.TorchDefault, s), nn.NewLinear("out", dim, width, nn.TorchDefault, s)
	params = append(in.Params(), out.Params()...)
	for _, name := range []string{"1", "2", "3", "4", "5", "6"} {
		b := nn.NewLinear(name, dim, dim, nn.TorchDefault, s)
		blocks, params = append(blocks, b), append(params, b.Params()...)
	}
	return in, out, blocks, params
}

func denoiser(dim int, act nn.Activation) maker {
	return func(dev device.Device) (*plan.Program, float64, error) {
		in, out, blocks, params := layers(dim)
		x, y := random("x", rows, width), random("y", rows, width)
		p, err := fit(dev, "denoiser", params, []*op.Tensor{x, y}, func(g *op.Graph) *op.Node {
			return g.SquaredError(residual(g, g.Bind(x), in, out, blocks, act), g.Bind(y), rows*width)
		})
		return p, 2 * rows * float64(2*width*dim+3*width*dim+3*6*dim*dim), err
	}
}

func sample(dim, n int, act nn.Activation) maker {
	return func(dev device.Device) (*plan.Program, float64, error) {
		in, out, blocks, params := layers(dim)
		x := random("x", n, width)
		var y *op.Node // one column: a GPU would take longer to send the result of all rows than to compute it
		g, err := op.Build("sample", func(g *op.Graph) { y = g.Slice(residual(g, g.Bind(x), in, out, blocks, act), 0, 1) })
		if err != nil {
			return nil, 0, err
		}
		p, err := plan.Compile(g, plan.Spec{Outputs: []*op.Node{y}}, dev)
		if err != nil {
			return nil, 0, err
		}
		return p, 2 * float64(n) * float64(2*width*dim+6*dim*dim), plan.Push(dev, append(params, x)...)
	}
}
