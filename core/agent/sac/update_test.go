package sac

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/device/cpu"
	"pgrlab/core/op"
	"pgrlab/core/rng"
	"pgrlab/core/testing/cputest"
)

func newDevice(t testing.TB, threads int) *cpu.Device {
	t.Helper()
	return cputest.New(t, cpu.Options{Threads: threads})
}

func newAgent(t testing.TB, c Config, seed uint64) *Agent {
	t.Helper()
	s, err := New(c, newDevice(t, 1), seed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// act chooses a copy's action as during training.
func act(s *Agent, dst, obs []float32, step, episode uint64) error {
	return s.Act(&agent.Acting{Copies: 1, Obs: obs, Actions: dst, Episodes: []uint64{episode}, Step: step})
}

// actMean chooses the noiseless actions of so many copies.
func actMean(s *Agent, dst, obs []float32, copies int) error {
	o, a := min(len(obs), copies*s.config.Obs), min(len(dst), copies*s.config.Act)
	return s.Act(&agent.Acting{Copies: copies, Obs: obs[:o], Actions: dst[:a], Mode: agent.Mean})
}

// small configures the agent that is compared with the reference.
func small() Config {
	return Config{Obs: 5, Act: 2, Hidden: []int{16, 16}, Critics: 2, Subset: 2, Gamma: 0.9, PolicyDelay: 1, InitialAlpha: 0.2}
}

// fill writes transitions into an agent's batch: the same ones for the same
// occasion.
func fill(t testing.TB, s *Agent, size int, occasion uint64) {
	t.Helper()
	b, err := s.Batch(size)
	if err != nil {
		t.Fatal(err)
	}
	stream := rng.New(7, "transitions")
	stream.Sub("s").FillNormal(b.Obs, occasion, 0)
	stream.Sub("a").FillUniform(b.Act, occasion, 0)
	stream.Sub("r").FillNormal(b.Reward, occasion, 0)
	stream.Sub("next").FillNormal(b.Next, occasion, 0)
	stream.Sub("d").FillUniform(b.Done, occasion, 0)
	for i := range b.Act {
		b.Act[i] = 2*b.Act[i] - 1
	}
	for i, u := range b.Done {
		b.Done[i] = 0
		if u < 0.25 {
			b.Done[i] = 1
		}
	}
}

func rows(x []float32, width int) (out [][]float64) {
	for i := 0; i < len(x); i += width {
		out = append(out, wide(x[i:i+width]))
	}
	return out
}

func wide(x []float32) (out []float64) {
	for _, v := range x {
		out = append(out, float64(v))
	}
	return out
}

// batchOf returns what the agent's next update of that size reads, noise included.
func batchOf(t testing.TB, s *Agent, size int) (b batch64, reward, done []float64) {
	t.Helper()
	have, err := s.Batch(size)
	if err != nil {
		t.Fatal(err)
	}
	o, a := s.config.Obs, s.config.Act
	noise := make([]float32, size*a)
	s.targetNoise.FillNormal(noise, s.updates, 0)
	b = batch64{s: rows(have.Obs, o), a: rows(have.Act, a), next: rows(have.Next, o), targetEps: rows(noise, a)}
	s.actorNoise.FillNormal(noise, s.updates, 0)
	b.actorEps = rows(noise, a)
	return b, wide(have.Reward), wide(have.Done)
}

// near compares numbers with a tolerance relative to the largest magnitude among them.
func near(t *testing.T, what string, got []float32, want []float64, tolerance float64) {
	t.Helper()
	scale := 0.0
	for _, v := range want {
		scale = math.Max(scale, math.Abs(v))
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i, v := range got {
		if !(math.Abs(float64(v)-want[i]) <= tolerance*scale) {
			t.Fatalf("%s: number %d is %v, want %v (largest %v)", what, i, v, want[i], scale)
		}
	}
}

func nearNumber(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(want) != math.IsNaN(got) || math.Abs(got-want) > tolerance*math.Max(1, math.Abs(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func values(params []*float64) (out []float64) {
	for _, p := range params {
		out = append(out, *p)
	}
	return out
}

// flat returns member e of tensors that have n members, one tensor after the other.
func flat(tensors []*op.Tensor, e, n int) (out []float32) {
	for _, t := range tensors {
		size := len(t.Data) / n
		out = append(out, t.Data[e*size:(e+1)*size]...)
	}
	return out
}

// checkAgainst compares everything that an agent learns with the reference.
func checkAgainst(t *testing.T, s *Agent, r *sac64, tolerance float64) {
	t.Helper()
	n := s.config.Critics
	near(t, "policy", flat(s.nets.policy.Params(), 0, 1), values(r.pi.params()), tolerance)
	for e := range n {
		near(t, fmt.Sprintf("critic %d", e), flat(s.nets.critics.params(), e, n), values(r.q[e].params()), tolerance)
		near(t, fmt.Sprintf("target %d", e), flat(s.nets.target.params(), e, n), values(r.target[e].params()), tolerance)
	}
}

func subsetOf(s *Agent) []int {
	all := make([]int, s.config.Subset)
	if s.config.Subset == s.config.Critics {
		for i := range all {
			all[i] = i
		}
		return all
	}
	s.subsets.At(s.updates).Choose(all, s.config.Critics)
	return all
}

// The tolerances allow for float32 sums of some hundred terms; the differences in float64
// contribute about 1e-9.
func TestUpdatesEqualTheReference(t *testing.T) {
	redq := small()
	redq.Critics, redq.Subset = 5, 2
	deep := small()
	deep.Hidden, deep.InitialAlpha = []int{7}, 1
	least := small()
	least.PolicyQ, least.TargetEntropy = PolicyMin, -0.3
	for name, c := range map[string]Config{"sac": small(), "redq": redq, "one hidden layer": deep, "least Q, another target entropy": least} {
		t.Run(name, func(t *testing.T) {
			const size = 8
			s := newAgent(t, c, 3)
			r := sac64Of(s)
			live := agent.Rates{LRActor: 3e-3, LRCritic: 5e-3, Tau: 0.1}
			for step := range 3 {
				fill(t, s, size, uint64(step))
				b, reward, done := batchOf(t, s, size)
				subset := subsetOf(s)
				due := step != 1
				s.config.PolicyDelay = 1000
				got, stepped, err := s.Update(size, live, due)
				if err != nil {
					t.Fatal(err)
				}
				if stepped != due {
					t.Fatalf("update %d: policy stepped: %v, want %v", step, stepped, due)
				}
				want := r.update(b, reward, done, subset, live, due)
				near(t, "target", s.updaters.Newest().targets.Data, r.y, 1e-5)
				nearNumber(t, "critic loss", got.Critic, want.Critic, 1e-5)
				nearNumber(t, "mean Q", got.QMean, want.QMean, 1e-5)
				nearNumber(t, "actor loss", got.Actor, want.Actor, 1e-5)
				nearNumber(t, "α loss", got.Alpha, want.Alpha, 1e-5)
				nearNumber(t, "α", got.AlphaValue, want.AlphaValue, 1e-6)
				for e := range c.Critics {
					near(t, "critic's first moment", flat(s.criticAdam.M, e, c.Critics), r.qAdam[e].m, 2e-5)
				}
				near(t, "policy's first moment", flat(s.policyAdam.M, 0, 1), r.piAdam.m, 2e-5)
				checkAgainst(t, s, r, 1e-4)
			}
		})
	}
}

// The moment of the first step is a tenth of the gradient, so that the test compares the gradient
// itself. The policy's gradient must come from the critics before their step.
func TestActorReadsCriticsBeforeTheirStep(t *testing.T) {
	const size = 8
	s := newAgent(t, small(), 5)
	fill(t, s, size, 0)
	b, reward, done := batchOf(t, s, size)
	r := sac64Of(s)
	late := sac64Of(s)
	live := agent.Rates{LRActor: 1e-3, LRCritic: 0.05, Tau: 0.5}
	if _, _, err := s.Update(size, live, true); err != nil {
		t.Fatal(err)
	}
	r.update(b, reward, done, []int{0, 1}, live, true)
	gradient := func(m []float64) (out []float32) {
		for _, v := range m {
			out = append(out, float32(v*0.1))
		}
		return out
	}
	near(t, "policy's moment", flat(s.policyAdam.M, 0, 1), wide(gradient(r.piGrad)), 2e-5)

	// The tolerance must be able to tell this wrong order from the right one.
	late.q = r.q
	late.alpha = 0.2
	wrong := differences(late.pi.params(), func() float64 { return late.actorLoss(b) })
	apart := 0.0
	for i, g := range wrong {
		apart = math.Max(apart, math.Abs(g-r.piGrad[i]))
	}
	if apart < 1e-2 {
		t.Errorf("critics after their step change the policy's gradient by %g only: this test cannot fail", apart)
	}
}

func TestPolicyIsDelayedWithinAnEnvStep(t *testing.T) {
	for _, c := range []struct {
		delay, utd int
		want       []int
	}{
		{20, 20, []int{19}}, {20, 1, []int{0}}, {20, 40, []int{19, 39}}, {20, 25, []int{19, 24}}, {20, 7, []int{6}}, {1, 3, []int{0, 1, 2}},
	} {
		config := small()
		config.PolicyDelay = c.delay
		s := newAgent(t, config, 1)
		for envStep := range 2 { // the count starts again
			var at []int
			for i := range c.utd {
				fill(t, s, 4, uint64(i))
				policy := slices.Clone(s.nets.policy.Layers[0].W.Data)
				losses, stepped, err := s.Update(4, agent.DefaultRates, i == c.utd-1)
				if err != nil {
					t.Fatal(err)
				}
				if moved := !slices.Equal(policy, s.nets.policy.Layers[0].W.Data); moved != stepped || math.IsNaN(losses.Actor) == stepped {
					t.Fatalf("utd %d, i=%d: stepped %v, but the policy moved: %v, loss %v", c.utd, i, stepped, moved, losses.Actor)
				}
				if stepped {
					at = append(at, i)
				}
			}
			if !slices.Equal(at, c.want) {
				t.Errorf("delay %d, utd %d, env step %d: the policy stepped at %v, want %v", c.delay, c.utd, envStep, at, c.want)
			}
		}
	}
}

func TestSubsetsOfREDQ(t *testing.T) {
	c := small()
	c.Critics, c.Subset = 4, 2
	s := newAgent(t, c, 1)
	seen := map[[2]int]int{}
	for i := range 600 {
		s.updates = uint64(i)
		s.choose.Run(s.updates)
		k := [2]int{int(s.chosen.Data[0]), int(s.chosen.Data[1])}
		if k[0] == k[1] || min(k[0], k[1]) < 0 || max(k[0], k[1]) > 3 {
			t.Fatalf("the subset of update %d is %v", i, k)
		}
		if k[0] > k[1] {
			k[0], k[1] = k[1], k[0]
		}
		seen[k]++
	}
	for k, n := range seen { // 600 samples of 6 pairs: 100 ± 9 each
		if n < 60 || n > 140 {
			t.Errorf("critics %v were chosen %d times of 600, want about 100", k, n)
		}
	}
	if len(seen) != 6 {
		t.Errorf("%d of 6 pairs were chosen", len(seen))
	}
}

// α is as configured until its first step and exp(log α) from then on.
func TestAlphaJumpsAtItsFirstStep(t *testing.T) {
	s := newAgent(t, small(), 1)
	s.config.PolicyDelay = 2
	want := []float64{0.2, 1, 1}
	for i, w := range want {
		fill(t, s, 4, uint64(i))
		losses, _, err := s.Update(4, agent.DefaultRates, false)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(losses.AlphaValue-w) > 1e-3 {
			t.Errorf("after update %d α is %v, want about %v", i, losses.AlphaValue, w)
		}
	}
}

func TestUpdateDoesNotAllocate(t *testing.T) {
	c := small()
	c.Critics = 5
	s := newAgent(t, c, 1)
	fill(t, s, 8, 0)
	if n := testing.AllocsPerRun(50, func() {
		if _, _, err := s.Update(8, agent.DefaultRates, true); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("an update allocates %v times", n)
	}
}

// The numbers do not depend on the number of threads, and two batch sizes in turn work on the same
// parameters.
func TestThreadsGiveTheSameBits(t *testing.T) {
	final := func(threads int) []float32 {
		c := small()
		c.Hidden = []int{64, 64} // large enough that two threads are used
		s, err := New(c, newDevice(t, threads), 4)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for i := range 20 {
			size := 64 + 32*(i%2)
			fill(t, s, size, uint64(i))
			if _, _, err := s.Update(size, agent.DefaultRates, true); err != nil {
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

func TestSizesComeAndGo(t *testing.T) {
	s := newAgent(t, small(), 1)
	for size := 2; size < 20; size++ {
		fill(t, s, size, 0)
		if _, _, err := s.Update(size, agent.DefaultRates, true); err != nil {
			t.Fatal(err)
		}
	}
	if s.updaters.Len() != keptSizes || s.updaters.Newest().batch.Size != 19 {
		t.Errorf("%d sizes are kept, the newest is %d", s.updaters.Len(), s.updaters.Newest().batch.Size)
	}
	b, err := s.Batch(18)
	if err != nil || b.Size != 18 || s.updaters.Newest().batch != b {
		t.Errorf("a size that was kept: %v, %v", b, err)
	}
	if _, err := s.Batch(0); err == nil {
		t.Error("a batch of 0 was accepted")
	}
}
