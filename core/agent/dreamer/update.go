package dreamer

import (
	"math"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// begin draws the batch and clears the gradients' sums.
func (x *Agent) begin(int) error {
	x.now.fresh = append(x.now.fresh[:0], x.memory.fresh...)
	if err := x.batch.fill(x, x.now.fresh); err != nil {
		return err
	}
	return x.clearSums()
}

func (x *Agent) clearSums() error {
	for _, t := range x.sums.Sums {
		clear(t.Data)
	}
	return plan.Push(x.dev, x.sums.Sums...)
}

// part is rows number i of a column [R,·] in parts, and sight in parts of as many observations as are worked on
// at a time.
func part(column []float32, i int, c Config) []float32 {
	width := len(column) / c.rows() * c.partRows()
	return column[i*width : (i+1)*width]
}

func sight(column []float32, i int, c Config) []float32 {
	width := len(column) / c.rows() * c.sightRows()
	return column[i*width : (i+1)*width]
}

// show writes part i of the observations as programs read them.
func (b *batch) show(into []float32, i int, c Config) {
	if c.Side == 0 {
		copy(into, sight(b.obs, i, c))
		return
	}
	rows, words := c.sightRows(), c.words()
	for row, frame := range b.frames[i*rows : (i+1)*rows] {
		copy(device.Bytes(into[row*words:(row+1)*words]), frame)
	}
}

// rowsAt is env step t of a column [T·N,·].
func rowsAt(column []float32, t int, c Config) []float32 {
	width := len(column) / c.rows() * c.Sequences
	return column[t*width : (t+1)*width]
}

func (x *Agent) encode(i int) error {
	c, b, p := x.config, x.batch, &x.programs.encode
	b.show(p.obs, i, c)
	copy(p.action, sight(b.action, i, c))
	if err := p.Run(x.updates); err != nil {
		return err
	}
	copy(sight(b.tokens, i, c), p.tokens)
	copy(sight(b.embedded, i, c), p.embedded)
	return nil
}

// before copies the latents before env step t, without those of episodes that have ended.
func (x *Agent) before(deter, stoch []float32, t int) {
	c, b := x.config, x.batch
	n, d, z := c.Sequences, c.Deter, c.groups()
	copy(deter, b.deter[t*n*d:][:n*d])
	copy(stoch, b.stoch[t*n*z:][:n*z])
	for row := range n {
		if b.first[t*n+row] {
			clear(deter[row*d:][:d])
			clear(stoch[row*z:][:z])
		}
	}
}

func (x *Agent) observe(unit int) error {
	for t := unit * observed; t < min(x.config.Length, (unit+1)*observed); t++ {
		if err := x.observeAt(t); err != nil {
			return err
		}
	}
	return nil
}

// observeAt makes env step t of all sequences.
func (x *Agent) observeAt(t int) error {
	c, b, p := x.config, x.batch, &x.programs.observe
	n, d, z := c.Sequences, c.Deter, c.groups()
	x.before(p.deter, p.stoch, t)
	copy(p.embedded, rowsAt(b.embedded, t, c))
	copy(p.tokens, rowsAt(b.tokens, t, c))
	p.items.First = uint64(t * n * c.Stoch)
	if err := p.Run(x.updates); err != nil {
		return err
	}
	copy(b.deter[(t+1)*n*d:], p.next)
	copy(b.stoch[(t+1)*n*z:], p.drawn)
	copy(rowsAt(b.logits, t, c), p.logits)
	return nil
}

// latents are those of the replayed env steps, [R,D] and [R,Z].
func (b *batch) latents() (deter, stoch []float32) { return b.imagined[0].deter, b.imagined[0].stoch }

func (x *Agent) model(i int) error {
	c, b, p := x.config, x.batch, &x.programs.world
	deter, stoch := b.latents()
	copy(p.deter.Data, part(deter, i, c))
	copy(p.stoch.Data, part(stoch, i, c))
	copy(p.logits.Data, part(b.logits, i, c))
	copy(p.reward, part(b.reward, i, c))
	copy(p.continues, part(b.continues, i, c))
	if err := p.Run(x.updates); err != nil {
		return err
	}
	m := &x.now.losses.model
	for k, sum := range [worldLosses]*float64{&m.Reward, &m.Continue, &m.Dynamics, &m.Representation} {
		*sum += float64(p.losses[k][0])
	}
	for k, t := range []*op.Tensor{p.deter, p.stoch, p.logits} {
		of, err := p.Gradient(t)
		if err != nil {
			return err
		}
		copy(part([][]float32{b.ofDeter, b.ofStoch, b.ofLogit}[k], i, c), of)
	}
	return nil
}

// decode adds what decoding gives to the gradients of latents.
func (x *Agent) decode(i int) error {
	c, b, p := x.config, x.batch, &x.programs.decode
	deter, stoch := b.latents()
	b.show(p.obs, i, c)
	copy(p.deter.Data, sight(deter, i, c))
	copy(p.stoch.Data, sight(stoch, i, c))
	if err := p.Run(x.updates); err != nil {
		return err
	}
	x.now.losses.model.Observation += float64(p.loss[0])
	for k, of := range []*op.Tensor{p.deter, p.stoch} {
		more, err := p.Gradient(of)
		if err != nil {
			return err
		}
		add(sight([][]float32{b.ofDeter, b.ofStoch}[k], i, c), more)
	}
	return nil
}

func (x *Agent) imagine(unit int) error {
	c, b := x.config, x.batch
	i, step := unit/(c.Imagine+1), unit%(c.Imagine+1)
	at := &b.imagined[step]
	if step == c.Imagine {
		p := &x.programs.judge
		copy(p.deter, part(at.deter, i, c))
		copy(p.stoch, part(at.stoch, i, c))
		if err := p.Run(x.updates); err != nil {
			return err
		}
		at.expected(i, c, p.reward, p.continues, p.value, p.slow)
		return nil
	}
	p, next := &x.programs.imagine, &b.imagined[step+1]
	copy(p.deter, part(at.deter, i, c))
	copy(p.stoch, part(at.stoch, i, c))
	first := uint64(step*c.rows() + i*c.partRows())
	p.normals.First, p.uniforms.First = first*uint64(c.Shape.Act), first*uint64(c.Stoch)
	if err := p.Run(x.updates); err != nil {
		return err
	}
	at.expected(i, c, p.reward, p.continues, p.value, p.slow)
	copy(part(at.action, i, c), p.action)
	copy(part(next.deter, i, c), p.next)
	copy(part(next.stoch, i, c), p.drawn)
	return nil
}

// expected stores what is expected at a part of the latents.
func (s *imagined) expected(i int, c Config, reward, continues, value, slow []float32) {
	copy(part(s.reward, i, c), reward)
	copy(part(s.continues, i, c), continues)
	copy(part(s.value, i, c), value)
	copy(part(s.slow, i, c), slow)
}

func (x *Agent) judge(int) error {
	b, l := x.batch, &x.now.losses
	x.now.span = b.judge(x.config, x.returns)
	l.expected, l.model.Imagined, l.model.Replayed = mean(b.imagined[0].value), mean(b.ret[:x.config.rows()]), mean(b.replayed)
	return nil
}

func mean(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v)
	}
	return sum / float64(len(x))
}

func (x *Agent) behave(unit int) error {
	c, b, p := x.config, x.batch, &x.programs.behave
	i, step := unit/c.Imagine, unit%c.Imagine
	at, scale := &b.imagined[step], x.now.span.scale()
	copy(p.deter, part(at.deter, i, c))
	copy(p.stoch, part(at.stoch, i, c))
	copy(p.action, part(at.action, i, c))
	copy(p.weight, part(at.weight, i, c))
	copy(p.slow, part(at.slow, i, c))
	copy(p.ret, part(b.ret[step*c.rows():][:c.rows()], i, c))
	for r, v := range part(at.value, i, c) {
		p.advantage[r] = float32((float64(p.ret[r]) - float64(v)) / scale)
	}
	p.entropyWeight[0] = float32(x.now.rates.Entropy)
	if err := p.Run(x.updates); err != nil {
		return err
	}
	l := &x.now.losses
	l.policy += float64(p.policy[0])
	l.value += float64(p.value[0])
	l.entropy += float64(p.entropy[0])
	return nil
}

func (x *Agent) replayed(i int) error {
	c, b, p := x.config, x.batch, &x.programs.replayed
	deter, stoch := b.latents()
	copy(p.deter.Data, part(deter, i, c))
	copy(p.stoch.Data, part(stoch, i, c))
	copy(p.ret, part(b.replayed, i, c))
	copy(p.slow, part(b.imagined[0].slow, i, c))
	for r := range p.weight { // of the last env step nothing is learned
		at := i*c.partRows() + r
		p.weight[r] = 1
		if b.last[at] || at >= (c.Length-1)*c.Sequences {
			p.weight[r] = 0
		}
	}
	if err := p.Run(x.updates); err != nil {
		return err
	}
	x.now.losses.replayed += float64(p.value[0])
	for k, of := range []*op.Tensor{p.deter, p.stoch} {
		more, err := p.Gradient(of)
		if err != nil {
			return err
		}
		add(part([][]float32{b.ofDeter, b.ofStoch}[k], i, c), more)
	}
	return nil
}

func (x *Agent) back(unit int) error {
	last := x.config.Length - 1 - unit*observed
	for t := last; t > last-observed && t >= 0; t-- {
		if err := x.backAt(t); err != nil {
			return err
		}
	}
	return nil
}

// backAt takes gradients through env step t of all sequences.
func (x *Agent) backAt(t int) error {
	c, b, p := x.config, x.batch, &x.programs.back
	n, d, z := c.Sequences, c.Deter, c.groups()
	x.before(p.deter.Data, p.stoch.Data, t)
	copy(p.embedded.Data, rowsAt(b.embedded, t, c))
	copy(p.tokens.Data, rowsAt(b.tokens, t, c))
	copy(p.ofNext, rowsAt(b.ofDeter, t, c))
	copy(p.ofDrawn, rowsAt(b.ofStoch, t, c))
	copy(p.ofLogits, rowsAt(b.ofLogit, t, c))
	if err := p.Run(x.updates); err != nil {
		return err
	}
	var of [4][]float32
	for i, tensor := range []*op.Tensor{p.deter, p.stoch, p.embedded, p.tokens} {
		var err error
		if of[i], err = p.Gradient(tensor); err != nil {
			return err
		}
	}
	copy(rowsAt(b.ofEmbedded, t, c), of[2])
	copy(rowsAt(b.ofTokens, t, c), of[3])
	for row := range n {
		if t > 0 && !b.first[t*n+row] {
			add(b.ofDeter[((t-1)*n+row)*d:][:d], of[0][row*d:])
			add(b.ofStoch[((t-1)*n+row)*z:][:z], of[1][row*z:])
		}
	}
	return nil
}

// add adds more to sum.
func add(sum, more []float32) {
	for i := range sum {
		sum[i] += more[i]
	}
}

func (x *Agent) senses(i int) error {
	c, b, p := x.config, x.batch, &x.programs.senses
	b.show(p.obs, i, c)
	copy(p.action, sight(b.action, i, c))
	copy(p.ofTokens, sight(b.ofTokens, i, c))
	copy(p.ofEmbedded, sight(b.ofEmbedded, i, c))
	return p.Run(x.updates)
}

// step steps all parameters, and stores the latents of the batch.
func (x *Agent) step(int) error {
	r := x.now.rates
	x.rate.Data[0], x.tau.Data[0] = float32(r.LR*x.warm()), float32(r.Tau)
	if err := x.programs.step.Run(x.updates); err != nil {
		return err
	}
	x.batch.keep(x)
	return nil
}

// warm is the share of the rate that the next step has.
func (x *Agent) warm() float64 {
	return math.Min(1, float64(x.optimiser.T)/float64(max(1, x.config.Warmup)))
}
