package sac

import (
	"fmt"
	"math"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

func normal(name string, n int) []float32 {
	x := make([]float32, n)
	rng.New(3, name).FillNormal(x, 0, 0)
	return x
}

func TestActEqualsTheReference(t *testing.T) {
	s := newAgent(t, small(), 1)
	pi := net64Of(s.nets.policy, 0)
	eps, action := make([]float32, 2), make([]float32, 2)
	for occasion := range uint64(20) {
		obs := normal(fmt.Sprint("obs", occasion), 5)
		if err := act(s, action, obs, occasion, 0); err != nil {
			t.Fatal(err)
		}
		s.actNoise.FillNormal(eps, occasion, 0)
		want, _ := policy64(pi, wide(obs), wide(eps))
		near(t, "action", action, want, 1e-5)
	}
	obs := normal("obs", 5)
	again := make([]float32, 2)
	for i, occasion := range []uint64{4, 9, 4} {
		if err := act(s, again, obs, occasion, 0); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			copy(action, again)
		} else if (again[0] == action[0]) != (occasion == 4) {
			t.Errorf("occasion %d acted as %v, occasion 4 as %v", occasion, again, action)
		}
	}
	if err := act(s, action, obs[:4], 0, 0); err == nil {
		t.Error("an observation that is too short was accepted")
	}
	if n := testing.AllocsPerRun(20, func() { _ = act(s, action, obs, 1, 0) }); n > 0 {
		t.Errorf("acting allocates %v times", n)
	}
}

func TestMeanActionsOfAnyNumberOfRows(t *testing.T) {
	s := newAgent(t, small(), 1)
	pi := net64Of(s.nets.policy, 0)
	for _, n := range []int{1, 2, 3, 10, 100, agent.MaxRows + 5} {
		obs, action := normal("obs", n*5), make([]float32, n*2)
		if err := actMean(s, action, obs, n); err != nil {
			t.Fatal(err)
		}
		var want []float64
		for _, row := range rows(obs, 5) {
			want = append(want, mean64(pi, row, 2)...)
		}
		near(t, fmt.Sprint(n, " actions"), action, want, 1e-5)
	}
	if got := s.actors.Len(); got != 7 { // 1 2 4 8 16 128 4096
		t.Errorf("%d programs were compiled, want 7", got)
	}
	obs, action := normal("obs", 50), make([]float32, 20)
	if n := testing.AllocsPerRun(20, func() { _ = actMean(s, action, obs, 10) }); n > 0 {
		t.Errorf("acting allocates %v times", n)
	}
	if err := actMean(s, make([]float32, 3), make([]float32, 10), 2); err == nil {
		t.Error("a result that is too short was accepted")
	}
}

func TestValuesEqualTheReference(t *testing.T) {
	const n = valueRows + 9 // more than one run, and the last one is not full
	c := small()
	c.Critics, c.Subset = 3, 2
	s := newAgent(t, c, 1)
	train(t, s, 0, 5) // so that targets and critics differ
	r := sac64Of(s)
	b := replay.NewBatch(replay.Shape{Obs: 5, Act: 2}, n)
	copy(b.Obs, normal("s", len(b.Obs)))
	copy(b.Act, normal("a", len(b.Act)))
	copy(b.Reward, normal("r", n))
	copy(b.Next, normal("s'", len(b.Next)))
	b.Done[3], b.Done[n-1] = 1, 1

	q, delta := make([]float32, n), make([]float32, n)
	if err := s.Q(q, b.Obs, n); err != nil {
		t.Fatal(err)
	}
	if err := s.TDError(delta, b, n); err != nil {
		t.Fatal(err)
	}
	ensemble := func(nets []net64, s, a []float64) (mean float64) {
		for _, net := range nets {
			mean += net.forward(join(s, a))[0] / float64(len(nets))
		}
		return mean
	}
	var wantQ, wantDelta []float64
	obs, act, next := rows(b.Obs, 5), rows(b.Act, 2), rows(b.Next, 5)
	for i := range n {
		wantQ = append(wantQ, ensemble(r.q, obs[i], mean64(r.pi, obs[i], 2)))
		future := ensemble(r.target, next[i], mean64(r.pi, next[i], 2))
		wantDelta = append(wantDelta, float64(b.Reward[i])+c.Gamma*(1-float64(b.Done[i]))*future-ensemble(r.q, obs[i], act[i]))
	}
	near(t, "Q", q, wantQ, 1e-5)
	near(t, "δ", delta, wantDelta, 1e-5)
	spread := make([]float32, n)
	if err := s.Spread(spread, b.Obs, b.Act, n); err != nil {
		t.Fatal(err)
	}
	var wantSpread []float64
	for i := range n {
		variance, mean := 0.0, ensemble(r.q, obs[i], act[i])
		for _, net := range r.q {
			d := net.forward(join(obs[i], act[i]))[0] - mean
			variance += d * d / float64(len(r.q))
		}
		wantSpread = append(wantSpread, math.Sqrt(variance))
	}
	near(t, "the deviation of Q", spread, wantSpread, 1e-5)
	if n := testing.AllocsPerRun(5, func() { _, _ = s.Q(q, b.Obs, n), s.TDError(delta, b, n) }); n > 0 {
		t.Errorf("scoring allocates %v times", n)
	}
	if err := s.Q(q, b.Obs, n+1); err == nil {
		t.Error("more rows than there are were accepted")
	}
	if err := s.TDError(delta, b, 0); err == nil {
		t.Error("no rows were accepted")
	}
}

func TestActivationsEqualTheReference(t *testing.T) {
	const n = 5
	s := newAgent(t, small(), 1)
	pi := net64Of(s.nets.policy, 0)
	obs := normal("obs", n*5)
	layers, err := s.Activations(agent.Looks{Rows: n, Numbers: obs})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"hidden 1", "hidden 2", "mu", "log_std"}
	if len(layers) != len(names) {
		t.Fatalf("%d layers, want %d", len(layers), len(names))
	}
	for i, l := range layers {
		if l.Name != names[i] || l.Rows != n || len(l.Pre) != n*l.Units || l.Output != (i >= 2) || (l.Post == nil) != l.Output {
			t.Errorf("layer %d is %q with %d rows and %d units, output %v", i, l.Name, l.Rows, l.Units, l.Output)
		}
	}
	for i, row := range rows(obs, 5) {
		z1 := pi[:1].forward(row)
		h1 := relu(z1)
		z2 := pi[1:2].forward(h1)
		h2 := relu(z2)
		heads := pi[2:].forward(h2)
		for k, want := range [][]float64{z1, z2, heads[:2], heads[2:]} {
			u := layers[k].Units
			near(t, layers[k].Name, layers[k].Pre[i*u:(i+1)*u], want, 1e-5)
		}
		near(t, "post 1", layers[0].Post[i*16:(i+1)*16], h1, 1e-5)
		near(t, "post 2", layers[1].Post[i*16:(i+1)*16], h2, 1e-5)
	}
	if _, err := s.Activations(agent.Looks{Rows: agent.MaxRows + 1, Numbers: make([]float32, 5*(agent.MaxRows+1))}); err == nil {
		t.Error("too many rows were accepted")
	}
	if _, err := s.Activations(agent.Looks{Rows: 2, Numbers: make([]float32, 9)}); err == nil {
		t.Error("9 numbers were accepted for two rows of 5")
	}
}

func relu(z []float64) (h []float64) {
	for _, v := range z {
		h = append(h, math.Max(v, 0))
	}
	return h
}

// Copies act together as each does alone: row i of the noise belongs to copy i. Evaluations that
// sample have noise of their own.
func TestCopiesAndModes(t *testing.T) {
	const copies = 3
	s := newAgent(t, small(), 1)
	pi := net64Of(s.nets.policy, 0)
	obs, eps := normal("obs", copies*5), make([]float32, copies*2)
	a := agent.Acting{Copies: copies, Obs: obs, Actions: make([]float32, copies*2), Episodes: make([]uint64, copies), Step: 7}
	for mode, noise := range map[agent.Mode]rng.Stream{agent.Explore: s.actNoise, agent.Sample: s.sampleNoise} {
		a.Mode = mode
		if err := s.Act(&a); err != nil {
			t.Fatal(err)
		}
		noise.FillNormal(eps, 7, 0)
		for i := range copies {
			want, _ := policy64(pi, wide(obs[i*5:(i+1)*5]), wide(eps[i*2:(i+1)*2]))
			near(t, fmt.Sprintf("copy %d under %v", i, mode), a.Actions[i*2:(i+1)*2], want, 1e-5)
		}
	}
	a.Copies, a.Mode = 2, agent.Mean
	if err := s.Act(&a); err == nil {
		t.Error("observations of three copies were taken for two")
	}
}
