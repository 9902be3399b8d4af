package sac

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/op"
)

func noisyConfig() Config {
	c := small()
	c.Critics, c.Subset, c.Exploration, c.NoisySigma = 3, 2, ExploreNoisy, 0.5
	return c
}

// noiseOf returns the factors εw and εb of layer l of member k in an update, by the definition of
// factorised noise.
func noiseOf(q critics, l, k int, update uint64) (w [][]float64, b []float64) {
	shape := q.noisy[l].Mean.W.Shape
	n, in, out := shape[0], shape[1], shape[2]
	epsIn, epsOut := make([]float32, n*in), make([]float32, n*out)
	q.noise.Sub(fmt.Sprintf("in %d", l)).FillNormal(epsIn, update, 0)
	q.noise.Sub(fmt.Sprintf("out %d", l)).FillNormal(epsOut, update, 0)
	f := func(e float32) float64 { return math.Copysign(math.Sqrt(math.Abs(float64(e))), float64(e)) }
	for j := range out {
		b = append(b, f(epsOut[k*out+j]))
	}
	for i := range in {
		row := make([]float64, out)
		for j := range row {
			row[j] = f(epsIn[k*in+i]) * b[j]
		}
		w = append(w, row)
	}
	return w, b
}

// perturbed is member k with the noise of an update; eps are the factors in the
// order of the parameters.
func perturbed(q critics, k int, update uint64) (net net64, eps []float64) {
	net = net64Of(q.layers, k)
	for l, layer := range net {
		sigma := net64Of(q.layers, k)[l] // of the right shape, overwritten below
		spread := q.noisy[l].Spread
		in, out := len(layer.w), len(layer.b)
		w, b := noiseOf(q, l, k, update)
		for i := range in {
			for j := range out {
				sigma.w[i][j] = float64(spread.W.Data[(k*in+i)*out+j])
				layer.w[i][j] += sigma.w[i][j] * w[i][j]
			}
			eps = append(eps, w[i]...)
		}
		for j := range out {
			layer.b[j] += float64(spread.B.Data[k*out+j]) * b[j]
		}
		eps = append(eps, b...)
	}
	return net, eps
}

// layersOf picks the means or the deviations from tensors in the order of critics.params.
func layersOf(all []*op.Tensor, first int) (some []*op.Tensor) {
	for i := first; i < len(all); i += 4 {
		some = append(some, all[i], all[i+1])
	}
	return some
}

// An update is SAC's on the weights μ + σ⊙ε: if dW is their gradient, that of μ is dW and that of σ
// is dW⊙ε. Critics and targets have noise of their own; the policy climbs the critics under the
// critics' sample of the noise.
func TestNoisyUpdatesEqualTheReference(t *testing.T) {
	const size = 8
	s := newAgent(t, noisyConfig(), 3)
	n := s.config.Critics
	live := agent.Rates{LRActor: 3e-3, LRCritic: 5e-3, Tau: 0.1}
	for step := range uint64(3) {
		fill(t, s, size, step)
		b, reward, done := batchOf(t, s, size)
		r := sac64Of(s)
		r.logAlpha = s.temp.LogAlpha
		var eps [][]float64
		for k := range n {
			var e []float64
			r.q[k], e = perturbed(s.nets.critics, k, step)
			r.target[k], _ = perturbed(s.nets.target, k, step)
			eps = append(eps, e)
		}
		var before [2][][]float32 // means and deviations, and moments of the members
		for part := range before {
			for k := range n {
				before[part] = append(before[part], flat(layersOf(s.criticAdam.M, 2*part), k, n))
			}
		}
		means := flat(layersOf(s.nets.critics.params(), 0), 0, 1)
		subset := subsetOf(s)
		got, _, err := s.Update(size, live, true)
		if err != nil {
			t.Fatal(err)
		}
		want := r.update(b, reward, done, subset, live, true)
		near(t, "target", s.updaters.Newest().targets.Data, r.y, 1e-5)
		nearNumber(t, "critic loss", got.Critic, want.Critic, 1e-5)
		nearNumber(t, "actor loss", got.Actor, want.Actor, 1e-5)
		nearNumber(t, "mean Q", got.QMean, want.QMean, 1e-5)
		for k := range n {
			for part, name := range []string{"μ", "σ"} {
				moment := make([]float64, len(r.qGrad[k]))
				for i, g := range r.qGrad[k] {
					if part == 1 {
						g *= eps[k][i]
					}
					moment[i] = 0.9*float64(before[part][k][i]) + 0.1*g
				}
				near(t, "first moment of "+name, flat(layersOf(s.criticAdam.M, 2*part), k, n), moment, 2e-5)
			}
		}
		if moved := flat(layersOf(s.nets.critics.params(), 0), 0, 1); moved[0] == means[0] {
			t.Error("a mean did not move")
		}
	}
}

// Judgements have no noise: Q is computed with the means, whatever the update, and targets follow
// means and deviations.
func TestJudgementsHaveNoNoise(t *testing.T) {
	s := newAgent(t, noisyConfig(), 3)
	train(t, s, 0, 5)
	r := sac64Of(s) // with the means
	const n = 4
	obs, q := normal("obs", n*5), make([]float32, n)
	if err := s.Q(q, obs, n); err != nil {
		t.Fatal(err)
	}
	var want []float64
	for _, row := range rows(obs, 5) {
		sum := 0.0
		for k := range r.q {
			sum += r.q[k].forward(join(row, mean64(r.pi, row, 2)))[0] / float64(len(r.q))
		}
		want = append(want, sum)
	}
	near(t, "Q", q, want, 1e-5)

	spread := func(q critics) []float32 { return flat(layersOf(q.params(), 2), 0, 1) }
	before := spread(s.nets.target)
	fill(t, s, 8, 5)
	if _, _, err := s.Update(8, agent.Rates{LRCritic: 1e-2, Tau: 0.5}, true); err != nil {
		t.Fatal(err)
	}
	critic := spread(s.nets.critics)
	for i, v := range spread(s.nets.target) {
		if want := before[i] + 0.5*(critic[i]-before[i]); math.Abs(float64(v-want)) > 1e-6 {
			t.Fatalf("deviation %d of the targets is %v, want %v", i, v, want)
		}
	}
}

// The same update has the same noise in every program and for every batch size; another update has
// other noise.
func TestNoiseIsSampledByUpdate(t *testing.T) {
	s := newAgent(t, noisyConfig(), 3)
	live := agent.Rates{} // nothing moves
	y := func(update uint64) []float64 {
		s.updates = update
		fill(t, s, 8, 0)
		if _, _, err := s.Update(8, live, true); err != nil {
			t.Fatal(err)
		}
		return wide(s.updaters.Newest().q)
	}
	first, other, again := y(0), y(1), y(0)
	if first[0] == other[0] || first[0] != again[0] {
		t.Errorf("Q of updates 0, 1 and 0 again: %v, %v, %v", first[0], other[0], again[0])
	}
}

func TestANoisyAgentGoesOnBitForBit(t *testing.T) {
	a, b := newAgent(t, noisyConfig(), 1), newAgent(t, noisyConfig(), 1)
	train(t, a, 0, 60)
	var file bytes.Buffer
	if err := a.Save(&file); err != nil {
		t.Fatal(err)
	}
	train(t, b, 0, 3)
	if err := b.Load(&file); err != nil {
		t.Fatal(err)
	}
	sameBits(t, a, b)
	train(t, a, 60, 100)
	train(t, b, 60, 100)
	sameBits(t, a, b)
	plain := noisyConfig()
	plain.Exploration = ExplorePolicy
	if err := a.Save(&file); err != nil {
		t.Fatal(err)
	}
	if err := newAgent(t, plain, 1).Load(&file); err == nil {
		t.Error("noisy critics were loaded into others")
	}
	fill(t, a, 8, 0)
	if n := testing.AllocsPerRun(20, func() { _, _, _ = a.Update(8, agent.DefaultRates, true) }); n > 0 {
		t.Errorf("a noisy update allocates %v times", n)
	}
}

// The number of workers does not change the noise either.
func TestNoisyThreadsGiveTheSameBits(t *testing.T) {
	final := func(threads int) []float32 {
		c := noisyConfig()
		c.Hidden = []int{64, 64}
		s, err := New(c, newDevice(t, threads), 4)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for i := range 8 {
			fill(t, s, 64, uint64(i))
			if _, _, err := s.Update(64, agent.DefaultRates, true); err != nil {
				t.Fatal(err)
			}
		}
		return flat(s.nets.state(), 0, 1)
	}
	one, two := final(1), final(2)
	for i := range one {
		if math.Float32bits(one[i]) != math.Float32bits(two[i]) {
			t.Fatalf("parameter %d is %v with one thread and %v with two", i, one[i], two[i])
		}
	}
}
