package dreamer

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/experience"
	"pgrlab/core/rng"
)

// TestLatents stores latents of many looks, forgets the old ones and reads the rest.
func TestLatents(t *testing.T) {
	l := latents{deter: 2, groups: 2, classes: 3}
	deter, stoch := make([]float32, 2), make([]float32, 6)
	of := func(look uint64) ([]float32, []float32) {
		s := make([]float32, 6)
		s[look%3], s[3+look%2] = 1, 1
		return []float32{float32(look) / 1e4, -1}, s
	}
	const looks = 5000
	for look := uint64(0); look < looks; look++ {
		d, s := of(look)
		l.put(look, look-min(look, 2*chunkLooks), d, s)
	}
	for look := uint64(0); look < looks; look++ {
		l.get(look, deter, stoch)
		d, s := of(look)
		if look < looks-3*chunkLooks {
			d, s = make([]float32, 2), make([]float32, 6)
		} else if look < looks-2*chunkLooks-1 {
			continue // perhaps forgotten
		}
		if !(math.Abs(float64(deter[0]-d[0])) <= 1.0/math.MaxInt16) || deter[1] != d[1] || !slices.Equal(stoch, s) {
			t.Fatalf("look %d: %v %v, want %v %v", look, deter, stoch, d, s)
		}
	}
}

// TestActRemembers acts in an episode of two copies and in one of a single copy: what a copy does depends on its
// own episode alone, and an episode's first action on no earlier one.
func TestActRemembers(t *testing.T) {
	c := small()
	x := newAgent(t, c, nil, 1)
	size := x.StateSize()
	obs := []float32{1, -2, 3, 0.5, 0, -1}
	act := func(copies int, state, obs []float32, mode agent.Mode) []float32 {
		a := agent.Acting{Copies: copies, Obs: obs, Actions: make([]float32, 2*copies), State: state, Step: 3, Mode: mode, Episodes: make([]uint64, copies)}
		if err := x.Act(&a); err != nil {
			t.Fatal(err)
		}
		return a.Actions
	}
	two, one := make([]float32, 2*size), make([]float32, size)
	for range 3 {
		a, b := act(2, two, obs, agent.Mean), act(1, one, obs[:3], agent.Mean)
		if !slices.Equal(a[:2], b) || !slices.Equal(two[:size], one) {
			t.Fatal("a copy acts otherwise beside another one")
		}
	}
	if slices.Equal(act(1, one, obs[:3], agent.Mean), act(1, make([]float32, size), obs[:3], agent.Mean)) {
		t.Error("a policy that remembers acts as at its beginning")
	}
	a, b := act(1, make([]float32, size), obs[:3], agent.Explore), act(1, make([]float32, size), obs[:3], agent.Sample)
	if slices.Equal(a, b) || slices.Equal(a, act(1, make([]float32, size), obs[:3], agent.Mean)) {
		t.Error("modes that draw other noise choose the same action")
	}
}

// TestPoliciesAreLoaded saves a policy and loads it in an agent of other weights, which then acts alike in several
// env steps; its critic stays as it was. A file that is torn anywhere is refused.
func TestPoliciesAreLoaded(t *testing.T) {
	c := small()
	x, other := newAgent(t, c, nil, 1), newAgent(t, c, nil, 1) // of one seed: their latents are drawn by the same noise
	for name, p := range other.nets.names() {
		rng.New(6, name).FillNormal(p.Data, 0, 0)
	}
	act := func(x *Agent) (actions []float32) {
		a := agent.Acting{Copies: 1, Obs: []float32{1, -2, 3}, Actions: make([]float32, 2), State: make([]float32, x.StateSize()), Mode: agent.Mean, Episodes: make([]uint64, 1)}
		for a.Step = range 5 {
			if err := x.Act(&a); err != nil {
				t.Fatal(err)
			}
			actions = append(actions, a.Actions...)
		}
		return actions
	}
	if slices.Equal(act(other), act(x)) {
		t.Error("other weights act alike")
	}
	var policy bytes.Buffer
	if err := x.SavePolicy(&policy); err != nil {
		t.Fatal(err)
	}
	critic := copied(other.nets.value.params())
	if err := other.LoadPolicy(bytes.NewReader(policy.Bytes())); err != nil {
		t.Fatal(err)
	}
	if got, want := act(other), act(x); !slices.Equal(got, want) {
		t.Errorf("the loaded policy chooses %v, want %v", got, want)
	}
	if !slices.EqualFunc(critic, copied(other.nets.value.params()), slices.Equal) {
		t.Error("the policy's file has changed the critic")
	}
	for _, size := range []int{0, 1, policy.Len() / 2, policy.Len() - 1} {
		if err := other.LoadPolicy(bytes.NewReader(policy.Bytes()[:size])); err == nil {
			t.Errorf("%d of %d bytes were loaded", size, policy.Len())
		}
	}
}

// TestActKeepsTheLatentOfItsLook acts in two copies: each latent is kept for the look that was acted on, so that a
// batch begins with the latent of the look before it. What is done to evaluate is not kept.
func TestActKeepsTheLatentOfItsLook(t *testing.T) {
	c := small()
	c.Copies = 2
	const looks = 40
	log := experience.NewLog(experience.Shape{Numbers: 3, Act: 2, Copies: 2}, experience.Keep{Looks: 4 * looks, Steps: 2 * looks})
	x := newAgent(t, c, log, 1)
	size, z := x.StateSize(), c.groups()
	a := agent.Acting{Copies: 2, Obs: make([]float32, 6), Actions: make([]float32, 4), State: make([]float32, 2*size), Episodes: make([]uint64, 2), Mode: agent.Explore}
	act := func() {
		if err := x.Act(&a); err != nil {
			t.Fatal(err)
		}
	}
	want := map[experience.Ref][]float32{}
	for look := range uint64(looks) {
		rng.New(4, "looks").FillNormal(a.Obs, look, 0)
		for i := range 2 {
			next := experience.Look{Numbers: slices.Clone(a.Obs[3*i:][:3])}
			if look == 0 {
				log.Begin(i, next)
			} else {
				log.Add(i, experience.Step{Action: slices.Clone(a.Actions[2*i:][:2]), Next: next})
			}
		}
		a.Step = look
		act()
		for i := range 2 {
			want[experience.Ref{Copy: int32(i), Number: look}] = slices.Clone(a.State[i*size:][:c.feature()])
		}
	}
	a.Mode = agent.Mean
	act()
	same := func(what string, deter, stoch []float32, of experience.Ref) {
		t.Helper()
		for j, v := range want[of][:c.Deter] {
			if !(math.Abs(float64(deter[j]-v)) <= 1.0/math.MaxInt16) {
				t.Fatalf("%s: number %d of the latent of look %v is %v, want %v", what, j, of, deter[j], v)
			}
		}
		if !slices.Equal(stoch, want[of][c.Deter:]) {
			t.Fatalf("%s: the classes of look %v are %v, want %v", what, of, stoch, want[of][c.Deter:])
		}
	}
	deter, stoch := make([]float32, c.Deter), make([]float32, z)
	for of := range want {
		x.memory.latents[of.Copy].get(of.Number, deter, stoch)
		same("memory", deter, stoch, of)
	}
	b := filled(t, x)
	for row, first := range b.refs {
		same("batch", b.deter[row*c.Deter:][:c.Deter], b.stoch[row*z:][:z], first.Before())
	}
}

// TestNoise compares the observations of a batch with and without noise: a share of the rows differs, in all of
// their numbers, by as much as it should.
func TestNoise(t *testing.T) {
	c := small()
	log := filledLog(c, 400, 50)
	clean := session{x: newAgent(t, c, log, 1)}
	c.NoiseShare, c.NoiseStd = 0.3, 0.5
	noised := session{x: newAgent(t, c, log, 1)}
	clean.units(t, 1)
	noised.units(t, 1)
	changed, squares, o := 0, 0.0, c.Shape.Obs
	rows := make([]float32, 0, c.rows()*o)
	for row := range c.rows() {
		different := 0
		for j := row * o; j < (row+1)*o; j++ {
			was, is := symexp(float64(clean.x.batch.obs[j])), symexp(float64(noised.x.batch.obs[j]))
			rows = append(rows, float32(was))
			if was != is {
				different, squares = different+1, squares+(is-was)*(is-was)
			}
		}
		if different != 0 && different != o {
			t.Fatalf("row %d: %d of %d numbers have noise", row, different, o)
		}
		changed += different / o
	}
	if share := float64(changed) / float64(c.rows()); !(math.Abs(share-c.NoiseShare) <= 0.1) {
		t.Errorf("%v of the rows have noise, want %v", share, c.NoiseShare)
	}
	if got, want := math.Sqrt(squares/float64(changed*o)), c.NoiseStd*math.Sqrt(meanVariance(rows, o)); !(math.Abs(got-want) <= 0.15*want) {
		t.Errorf("deviation %v, want %v", got, want)
	}
	if !slices.Equal(clean.x.batch.action, noised.x.batch.action) || !slices.Equal(clean.x.batch.reward, noised.x.batch.reward) {
		t.Error("noise in something else than observations")
	}
}
