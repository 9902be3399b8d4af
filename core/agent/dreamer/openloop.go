package dreamer

import (
	"math"

	"pgrlab/core/agent"
	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// openLoop is the programs of a prediction, for all sequences of a batch.
type openLoop struct {
	step   *plan.Program // an env step without the observation
	decode *plan.Program // of latents

	deter, stoch, action, uniform []float32 // of step
	next, drawn                   []float32
	fromDeter, fromStoch          []float32 // of decode
	obs, reward                   []float32
}

func (x *Agent) newOpenLoop() (p *openLoop, err error) {
	c, n, rows := x.config, x.nets, x.config.Sequences
	p = new(openLoop)
	var in [4]*op.Node
	var out [4]*op.Node
	p.step, err = plan.Build("dreamer predict", x.dev, func(g *op.Graph) plan.Spec {
		in = [4]*op.Node{g.Input("deter", rows, c.Deter), g.Input("stoch", rows, c.groups()), g.Input("a", rows, c.Shape.Act), g.Input("u", rows, c.Stoch)}
		out[0] = n.step(g, in[0], in[1], n.embed(g, in[2]))
		out[1] = g.GroupSample(n.chances(g, n.prior.apply(g, out[0])), in[3], c.Classes)
		return plan.Spec{Outputs: out[:2]}
	})
	if err != nil {
		return nil, err
	}
	p.deter, p.stoch, p.action, p.uniform = p.step.Data(in[0]), p.step.Data(in[1]), p.step.Data(in[2]), p.step.Data(in[3])
	p.next, p.drawn = p.step.Data(out[0]), p.step.Data(out[1])
	p.decode, err = plan.Build("dreamer decode", x.dev, func(g *op.Graph) plan.Spec {
		in[0], in[1] = g.Input("deter", rows, c.Deter), g.Input("stoch", rows, c.groups())
		out[2], out[3] = n.decode(g, in[0], in[1]), g.BinMean(n.reward.apply(g, g.Concat(in[0], in[1])), g.Bind(n.bins))
		return plan.Spec{Outputs: out[2:]}
	})
	if err != nil {
		p.step.Close()
		return nil, err
	}
	p.fromDeter, p.fromStoch, p.obs, p.reward = p.decode.Data(in[0]), p.decode.Data(in[1]), p.decode.Data(out[2]), p.decode.Data(out[3])
	return p, nil
}

// Close frees the programs.
func (p *openLoop) Close() error {
	if p == nil {
		return nil
	}
	return plan.Close(p.step, p.decode)
}

// OpenLoop predicts, for as many sequences as a batch has, the second half of each from the observations of its
// first half and the actions of all of it (dreamerv3/agent.py, report). nil: there are no such sequences yet, or
// none within an episode.
func (x *Agent) OpenLoop(number uint64) (*agent.OpenLoop, error) {
	c := x.config
	if x.memory.Len(c.Length+1) == 0 {
		return nil, nil
	}
	if err := x.prepare(drawn); err != nil {
		return nil, err
	}
	if x.loop == nil {
		var err error
		if x.loop, err = x.newOpenLoop(); err != nil {
			return nil, err
		}
	}
	deter, stoch, all, err := x.within(number)
	if all == nil || err != nil {
		return nil, err
	}
	seen := make([]float32, c.Sequences*c.inputs())
	for t := range c.Length {
		x.witness(seen, all, t)
		if err := x.foresee(deter, stoch, seen, all, t, number); err != nil {
			return nil, err
		}
		copy(x.loop.fromDeter, deter)
		copy(x.loop.fromStoch, stoch)
		if err := x.loop.decode.Run(0); err != nil {
			return nil, err
		}
		x.loop.read(all, t)
	}
	return all, nil
}

// witness writes what was observed after env step t as programs read it.
func (x *Agent) witness(into []float32, all *agent.OpenLoop, t int) {
	c := x.config
	o, size, words := c.Shape.Obs, c.Side*c.Side*agent.Colours, c.words()
	for row := range all.Rows {
		at := row*all.Steps + t
		if c.Side > 0 {
			copy(device.Bytes(into[row*words:(row+1)*words]), all.Seen[at*size:][:size])
			continue
		}
		symlog(into[row*o:], all.Real[at*o:][:o])
	}
}

// read takes what was decoded after env step t.
func (p *openLoop) read(all *agent.OpenLoop, t int) {
	width := len(p.obs) / all.Rows
	for row := range all.Rows {
		at := row*all.Steps + t
		for j, v := range p.obs[row*width:][:width] {
			if all.Side > 0 {
				all.Foreseen[at*width+j] = byte(math.Round(255 * float64(v)))
				continue
			}
			all.Predicted[at*width+j] = float32(symexp(float64(v)))
		}
		all.PredictedReward[at] = p.reward[row]
	}
}

// within draws sequences that lie within an episode, and returns the latents before them; nil: there are none.
func (x *Agent) within(number uint64) (deter, stoch []float32, all *agent.OpenLoop, err error) {
	c, m := x.config, x.memory
	n, o, a, d, z := c.Sequences, c.Shape.Obs, c.Shape.Act, c.Deter, c.groups()
	deter, stoch = make([]float32, n*d), make([]float32, n*z)
	all = &agent.OpenLoop{Rows: n, Steps: c.Length, Context: c.Length / 2}
	size := c.Side * c.Side * agent.Colours
	if c.Side > 0 {
		all.Side, all.Seen, all.Foreseen = c.Side, make([]byte, n*c.Length*size), make([]byte, n*c.Length*size)
	} else {
		all.Real, all.Predicted = make([]float32, n*c.Length*o), make([]float32, n*c.Length*o)
	}
	all.Actions, all.Reward, all.PredictedReward = make([]float32, n*c.Length*a), make([]float32, n*c.Length), make([]float32, n*c.Length)
	from := m.Sequences
	from.Stream = x.streams.predicted
	const tries = 32 // as many for each row
	for row, attempt := 0, 0; row < n; attempt++ {
		if attempt == tries*n {
			return nil, nil, nil, nil
		}
		if err := from.Draw(m.read, number, attempt); err != nil {
			return nil, nil, nil, err
		}
		if begins(m.read.First[1:]) {
			continue
		}
		m.latents[m.read.From.Copy].get(m.read.From.Number, deter[row*d:][:d], stoch[row*z:][:z])
		for t := range c.Length {
			at, look := row*c.Length+t, m.read.Looks[t+1]
			if c.Side > 0 {
				copy(all.Seen[at*size:], look.Frame)
			} else {
				copy(all.Real[at*o:], look.Numbers)
			}
			copy(all.Actions[at*a:], m.read.Actions[t+1])
			all.Reward[at] = m.read.Rewards[t+1]
		}
		row++
	}
	return deter, stoch, all, nil
}

// begins says whether an episode begins with one of some looks.
func begins(first []bool) bool {
	for _, is := range first {
		if is {
			return true
		}
	}
	return false
}

// foresee makes env step t of all sequences: with the observation in the first half, without it then.
func (x *Agent) foresee(deter, stoch, seen []float32, all *agent.OpenLoop, t int, number uint64) error {
	c, l := x.config, x.loop
	a := c.Shape.Act
	for row := range c.Sequences {
		copy(l.action[row*a:], all.Actions[(row*c.Length+t)*a:][:a])
	}
	copy(l.deter, deter)
	copy(l.stoch, stoch)
	x.streams.predicted.Sub("u").FillUniform(l.uniform, number, uint64(t*len(l.uniform)))
	if t >= all.Context {
		if err := l.step.Run(0); err != nil {
			return err
		}
		copy(deter, l.next)
		copy(stoch, l.drawn)
		return nil
	}
	// A look at the policy has all that is needed: it takes any number of copies.
	look, err := x.looks.Of(agent.Padded(c.Sequences))
	if err != nil {
		return err
	}
	for i, column := range [][]float32{look.deter, look.stoch, look.action, look.uniform, look.obs} {
		copy(column, [][]float32{deter, stoch, l.action, l.uniform, seen}[i])
	}
	if err := look.Run(0); err != nil {
		return err
	}
	copy(deter, look.next)
	copy(stoch, look.drawn)
	return nil
}
