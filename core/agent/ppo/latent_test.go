package ppo

import (
	"math"
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/device"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// smallLatent configures a small agent beside a generator.
func smallLatent() Config {
	c := small()
	c.Window, c.KeepRewarded, c.MaxNorm = 2, 5, 0.3
	return c
}

func newLatentAgent(t testing.TB, c Config, dev device.Device) *Latent {
	t.Helper()
	l, err := NewLatent(c, newLog(c), dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// dreamtRows are rows as a generator makes them: latents beyond 1, invalid actions, and rewards
// between the real ones.
func dreamtRows(c Config, n int) *replay.Ring {
	shape := c.latents()
	ring := replay.NewRing(shape, n)
	numbers := make([]float32, n*shape.Width())
	rng.New(7, "dreams").FillNormal(numbers, 0, 0)
	for i := range n {
		numbers[(i+1)*shape.Width()-1] = float32(i % 2) // d
	}
	ring.AddRows(numbers)
	return ring
}

// latentSession drives an agent whose steps have two synthetic rows for three real ones.
func latentSession(l *Latent, dreams *replay.Ring) *session {
	s := newSession(l.Agent)
	s.learner, s.rates.Entropy = l, 0.01
	s.source = agent.BatchSource{
		Mixer: replay.NewMixer(rng.New(3, "mixer")), Real: replay.NewRing(l.config.latents(), 1000), Synthetic: dreams,
		Mix: replay.Mix{Real: 6, Synthetic: 4},
	}
	s.source.Real.Annotate()
	return s
}

// slowly computes the policy loss, the value loss and the total loss of a step's rows, by loops
// over the package's formulas in float64.
func slowly(x *Agent, l *learning, weights [][]float64) (policy, value, loss float64) {
	c := x.config
	layer := func(in []float64, k int, squash bool) []float64 {
		w, b := weights[2*k], weights[2*k+1]
		out := slices.Clone(b)
		for j := range out {
			for i, v := range in {
				out[j] += v * w[i*len(b)+j]
			}
			if squash {
				out[j] = math.Tanh(out[j])
			}
		}
		return out
	}
	heads := len(c.Hidden)
	real, dreamt := c.part(), l.synthetic()
	chance := 0.0
	of := func(r stepInputs, i, width int, trunk bool) {
		var z []float64
		for _, v := range r.in[i*width : (i+1)*width] {
			z = append(z, float64(v))
		}
		if trunk {
			for k := range heads {
				z = layer(z, k, true)
			}
		}
		v, ret := layer(z, heads+1, false)[0], float64(r.ret[i])
		square := (v - ret) * (v - ret)
		if c.ValueClip > 0 {
			old, reach := float64(r.old[i]), float64(r.reach[i])
			near := old + min(max(v-old, -reach), reach)
			square = max(square, (near-ret)*(near-ret))
		}
		value += square / 2 / float64(real+dreamt)
		logits, sum := layer(z, heads, false), 0.0
		for _, u := range logits {
			sum += math.Exp(u)
		}
		for a, u := range logits {
			p := math.Exp(u) / sum
			chance -= p * math.Log(p) / float64(real+dreamt)
			if r.action[i*len(logits)+a] == 1 {
				ratio, advantage := p/math.Exp(float64(r.logp[i])), float64(r.advantage[i])
				near := min(max(ratio, float64(r.low[i])), float64(r.high[i]))
				policy -= min(ratio*advantage, near*advantage) / float64(real+dreamt)
			}
		}
	}
	for i := range real {
		of(l.real, i, c.Shape.Obs, true)
	}
	for i := range dreamt {
		of(l.dreamt.into, i, c.latents().Obs, false)
	}
	return policy, value, policy + c.ValueWeight*value - 0.01*chance
}

// A step with synthetic rows is Adam's step on the gradient of the formulas, taken by central
// differences in float64: with clipped and unclipped values.
func TestAMixedStepAgreesWithASlowOne(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"clipped": func(c *Config) {},
		"free":    func(c *Config) { c.ValueClip, c.RewardScale, c.Bonus = 0, 0.1, true },
	} {
		t.Run(name, func(t *testing.T) {
			c := smallLatent()
			change(&c)
			l := newLatentAgent(t, c, newDevice(t, 2))
			s := latentSession(l, dreamtRows(c, 40))
			for l.iterations < 2 || s.done != 3 { // in the middle of the third iteration: π is no longer π_old
				s.unit(t)
			}
			if err := l.adam.Reset(); err != nil {
				t.Fatal(err)
			}
			var weights [][]float64
			for _, p := range l.nets.params() {
				var w []float64
				for _, v := range p.Data {
					w = append(w, float64(v))
				}
				weights = append(weights, w)
			}
			made := s.next(t)
			used := l.learnings.Newest()
			if used.synthetic() != 4 {
				t.Fatalf("%d synthetic rows beside %d real ones", used.synthetic(), c.part())
			}
			policy, value, _ := slowly(l.Agent, used, weights)
			if !(math.Abs(made.Losses.Actor-policy) <= 1e-5 && math.Abs(made.Losses.Critic-value) <= 1e-5) {
				t.Errorf("losses %v and %v, want %v and %v", made.Losses.Actor, made.Losses.Critic, policy, value)
			}
			var gradient [][]float64
			norm := 0.0
			for _, w := range weights {
				g := make([]float64, len(w))
				for i, v := range w {
					const h = 1e-6
					w[i] = v + h
					_, _, above := slowly(l.Agent, used, weights)
					w[i] = v - h
					_, _, below := slowly(l.Agent, used, weights)
					w[i] = v
					g[i] = (above - below) / (2 * h)
					norm += g[i] * g[i]
				}
				gradient = append(gradient, g)
			}
			clip := min(1, c.MaxNorm/math.Sqrt(norm))
			moved := 0
			for k, p := range l.nets.params() {
				for i, v := range p.Data {
					g := clip * gradient[k][i]
					if math.Abs(g) < 1e-4 {
						continue // in float32 a smaller gradient hardly has a sign, and a first step is little more than the sign
					}
					moved++
					want := weights[k][i] - s.rates.LRActor*g/(math.Abs(g)+1e-5)
					if !(math.Abs(float64(v)-want) <= 2e-5) {
						t.Fatalf("%s: number %d is %v, want %v", p.Name, i, v, want)
					}
				}
			}
			if moved < 60 {
				t.Errorf("only %d weights move enough to compare", moved)
			}
		})
	}
}

// limited limits z to the range of the trunk's activation: tanh, or ReLU where the agent sees frames.
func limited(c Config, z []float32) []float32 {
	z = slices.Clone(z)
	for i, v := range z {
		if z[i] = max(v, 0); c.Side == 0 {
			z[i] = min(max(v, -1), 1)
		}
	}
	return z
}

// Synthetic rows are judged by the heads that the iteration began with, and are first limited to
// what the agent could have met.
func TestSyntheticRowsAreJudgedByTheOldHeads(t *testing.T) {
	bothLatent(t, judgedByTheOldHeads)
}

func judgedByTheOldHeads(t *testing.T, c Config) {
	l := newLatentAgent(t, c, newDevice(t, 1))
	s := latentSession(l, dreamtRows(c, 40))
	l.heads.peak = 1
	for l.iterations < 1 || !l.rollout.Full() {
		s.unit(t)
	}
	began := slices.Concat(l.nets.value.W.Data, l.nets.value.B.Data, l.nets.policy.W.Data, l.nets.policy.B.Data)
	for s.done != 5 {
		s.unit(t)
	}
	if !slices.Equal(began, slices.Concat(l.heads.value.W.Data, l.heads.value.B.Data, l.heads.policy.W.Data, l.heads.policy.B.Data)) {
		t.Fatal("the old heads are not those that the iteration began with")
	}
	d, h := l.learnings.Newest().dreamt, c.latents().Obs
	ones := 0
	sum, square := 0.0, 0.0
	for i := range d.columns.Size {
		z, next := limited(c, d.columns.Obs[i*h:(i+1)*h]), limited(c, d.columns.Next[i*h:(i+1)*h])
		if !slices.Equal(z, d.z[i*h:(i+1)*h]) || !slices.Equal(z, d.into.in[i*h:(i+1)*h]) {
			t.Errorf("row %d is read as %v, want %v", i, d.into.in[i*h:(i+1)*h], z)
		}
		v, after := float64(l.heads.value.B.Data[0]), float64(l.heads.value.B.Data[0])
		for j, w := range l.heads.value.W.Data {
			v += float64(z[j]) * float64(w)
			after += float64(next[j]) * float64(w)
		}
		r := d.columns.Reward[i]
		if r != 0 && r != 1 {
			t.Errorf("row %d has a reward of %v", i, r)
		}
		ones += int(r)
		if want := float64(r) + c.Gamma*(1-float64(d.columns.Done[i]))*after; !(math.Abs(float64(d.into.ret[i])-want) <= 1e-5) {
			t.Errorf("row %d: target %v, want %v", i, d.into.ret[i], want)
		}
		if !(math.Abs(float64(d.into.old[i])-v) <= 1e-5) {
			t.Errorf("row %d: V_old is %v, want %v", i, d.into.old[i], v)
		}
		sum += float64(d.into.advantage[i])
		square += float64(d.into.advantage[i]) * float64(d.into.advantage[i])
	}
	if n := float64(d.columns.Size); !(math.Abs(sum) <= 1e-4 && math.Abs(square/n-1) <= 1e-3) {
		t.Errorf("advantages have sum %v and mean square %v", sum, square/n)
	}
	if slices.Equal(l.heads.value.W.Data, l.nets.value.W.Data) {
		t.Error("the value's head has not moved in five steps")
	}
}

// Without synthetic rows the agent is plain PPO, bit for bit; with them it is not.
func TestWithoutSyntheticRowsItIsPlain(t *testing.T) {
	bothLatent(t, plainWithoutSynthetic)
}

func plainWithoutSynthetic(t *testing.T, c Config) {
	dev := newDevice(t, 1)
	plain := newAgent(t, c, dev)
	a := newSession(plain)
	a.rates.Entropy = 0.01
	l := newLatentAgent(t, c, dev)
	b := latentSession(l, dreamtRows(c, 40))
	b.source.Mix = replay.Mix{Real: 6}
	for range 50 {
		a.unit(t)
		b.unit(t)
	}
	sameBits(t, plain, l.Agent)
	b.source.Mix.Synthetic = 6
	for l.updates < plain.updates+uint64(l.config.Epochs*l.config.Minibatches) {
		b.unit(t)
	}
	if l.learnings.Len() != 2 || plain.nets.value.B.Data[0] == l.nets.value.B.Data[0] {
		t.Error("synthetic rows change nothing")
	}
}

// encodeAll makes D_real again and returns how many rows that are.
func encodeAll(t testing.TB, l *Latent, source agent.BatchSource) int {
	t.Helper()
	w := agent.Work{Refit: true, Source: source}
	total, err := l.startEncode(&w)
	for done := 0; err == nil && done < total; {
		var n int
		n, _, err = l.encodeSlice(&w, done)
		done += n
	}
	if err != nil {
		t.Fatal(err)
	}
	return total
}

// D_real holds the present trunk's latents of the newest transitions. Rewarded transitions that
// have left the window replace the oldest ones without a reward.
func TestDRealIsOfThePresentTrunk(t *testing.T) {
	c := smallLatent()
	l := newLatentAgent(t, c, newDevice(t, 1))
	s := latentSession(l, nil)
	s.source.Mix = replay.Mix{Real: 6}
	for l.iterations < 4 {
		s.unit(t)
	}
	total := encodeAll(t, l, s.source)
	if total != c.Window*c.rows() {
		t.Fatal(total)
	}
	real, h, a := s.source.Real, c.latents().Obs, c.Shape.Act
	if real.Len() != total || l.chosen.Kept() < 5 || l.heads.peak != 1 {
		t.Fatalf("%d rows of %d, %d kept, the largest reward is %v", real.Len(), total, l.chosen.Kept(), l.heads.peak)
	}
	latent := func(s []float32) []float64 {
		in := make([]float64, len(s))
		for i, v := range s {
			in[i] = float64(v)
		}
		for _, layer := range l.nets.trunk {
			out := make([]float64, len(layer.B.Data))
			for j := range out {
				out[j] = float64(layer.B.Data[j])
				for i, v := range in {
					out[j] += v * float64(layer.W.Data[i*len(out)+j])
				}
				out[j] = math.Tanh(out[j])
			}
			in = out
		}
		return in
	}
	kept, ends := 0, 0
	for i := range total {
		from, err := l.chosen.Row(i)
		if err != nil {
			t.Fatal(err)
		}
		row := real.Row(i)
		if real.Note(i) != from.Note || from.Note.Respawned != (from.Observed == 1) {
			t.Errorf("row %d with reward %v has note %v, want %v", i, from.Observed, real.Note(i), from.Note)
		}
		z, next := latent(from.Seen.Numbers), latent(from.Next.Numbers)
		for j := range h {
			if !(math.Abs(z[j]-float64(row[j])) <= 1e-5 && math.Abs(next[j]-float64(row[h+a+1+j])) <= 1e-5) {
				t.Fatalf("row %d is %v and %v, want %v and %v", i, row[:h], row[h+a+1:], z, next)
			}
		}
		if !slices.Equal(row[h:h+a], from.Action) || row[h+a] != from.Observed || (row[2*h+a+1] == 1) != (from.End == experience.Terminated) {
			t.Errorf("row %d has action and reward %v, end %v", i, row[h:h+a+1], row[2*h+a+1])
		}
		if from.End == experience.Terminated {
			ends++
		}
		if i < 5 && from.Observed == 1 {
			kept++
		}
	}
	if kept != 5 || ends == 0 {
		t.Errorf("%d of the first rows have a reward, %d rows are ends", kept, ends)
	}
}

// An agent goes on from every place of an iteration with synthetic rows as if it had not stopped,
// and one worker computes the same bits as two.
func TestMixedItGoesOnFromEveryPlace(t *testing.T) {
	bothLatent(t, goesOnMixed)
}

func goesOnMixed(t *testing.T, c Config) {
	dev := newDevice(t, 1)
	dreams := dreamtRows(c, 40)
	const units, refit = 40, 18 // from the refit on the generated rows are aligned
	var whole [2]*Latent
	goOn := func(s *session, l *Latent, from, to int) {
		for unit := from; unit < to; unit++ {
			if unit == refit {
				encodeAll(t, l, s.source)
			}
			s.unit(t)
		}
	}
	for i := range whole {
		whole[i] = newLatentAgent(t, c, newDevice(t, i+1))
		goOn(latentSession(whole[i], dreams), whole[i], 0, units)
	}
	if whole[0].aligned.now.W.Data[1] == 0 {
		t.Fatal("nothing was aligned")
	}
	sameBits(t, whole[0].Agent, whole[1].Agent)
	for cut := range units {
		first := newLatentAgent(t, c, dev)
		s := latentSession(first, dreams)
		goOn(s, first, 0, cut)
		second := newLatentAgent(t, c, dev)
		carry(t, first, second, first.rollout.Log, second.rollout.Log)
		s.x, s.learner = second.Agent, second
		goOn(s, second, cut, units)
		sameBits(t, whole[0].Agent, second.Agent)
		sameHistories(t, whole[0], second)
	}
}

// synthetic is how many of a step's rows are synthetic.
func (l *learning) synthetic() int {
	if l.dreamt == nil {
		return 0
	}
	return l.dreamt.columns.Size
}
