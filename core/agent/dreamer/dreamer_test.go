package dreamer

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/golden"
)

// small is a configuration whose batch has several parts.
func small() Config {
	s := DefaultSettings
	s.Deter, s.Stoch, s.Hidden, s.Units, s.Bins = 16, 3, 6, 7, 21
	s.Sequences, s.Length, s.Imagine, s.TrainRatio, s.Warmup = 24, 11, 3, 528, 2
	return Config{Settings: s, Shape: replay.Shape{Obs: 3, Act: 2}, Copies: 1}
}

// sighted is one that sees frames.
func sighted() Config {
	c := small()
	c.Side, c.Depth, c.Sequences, c.Length, c.TrainRatio = 48, 2, 6, 5, 60
	return c
}

// bothObserved runs a test for an agent of observations and for one of frames.
func bothObserved(t *testing.T, test func(t *testing.T, c Config)) {
	for name, c := range map[string]Config{"observations": small(), "frames": sighted()} {
		t.Run(name, func(t *testing.T) { test(t, c) })
	}
}

func newDevice(t testing.TB, threads int) device.Device {
	t.Helper()
	dev, err := cpu.New(cpu.Options{Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return dev
}

func newAgent(t testing.TB, c Config, log *experience.Log, threads int) *Agent {
	t.Helper()
	x, err := New(c, log, newDevice(t, threads), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// session makes the updates of env steps, unit by unit.
type session struct {
	x    *Agent
	step int
	done int // units of the phase under way
	made []agent.UpdateResult
	now  agent.Work
}

func (s *session) work() *agent.Work {
	s.now = agent.Work{Step: s.step, Rates: agent.Rates{LRActor: 3e-3, Tau: 0.02, Entropy: 3e-4}}
	return &s.now
}

// units makes that many units.
func (s *session) units(t testing.TB, n int) {
	t.Helper()
	for range n {
		if s.done == 0 {
			if s.step++; !s.x.due(s.work()) {
				t.Fatal("no update is due")
			}
			if _, err := s.x.start(s.work()); err != nil {
				t.Fatal(err)
			}
		}
		made, results, err := s.x.slice(s.work(), s.done)
		if err != nil || made != 1 {
			t.Fatal(made, err)
		}
		s.made = append(s.made, results...)
		if s.done++; s.done == s.x.config.pace().Updates*s.x.units() {
			s.done = 0
		}
	}
}

// saved is a whole agent.
func saved(t testing.TB, x *Agent) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := x.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestResumedWithinAnUpdate saves after each of the units of two updates and goes on from there: the agent
// that was loaded ends as the one that was not interrupted.
func TestResumedWithinAnUpdate(t *testing.T) { bothObserved(t, resumedWithinAnUpdate) }

func resumedWithinAnUpdate(t *testing.T, c Config) {
	log := filledLog(c, 400, 50)
	whole := session{x: newAgent(t, c, log, 1)}
	all := c.pace().Updates * whole.x.units()
	whole.units(t, all)
	want := saved(t, whole.x)
	other := newAgent(t, c, log, 1)
	part := session{x: newAgent(t, c, log, 1)}
	for at := 0; at < all; at++ {
		if at%7 == 3 || at < 3 || at > all-3 {
			if err := other.Load(bytes.NewReader(saved(t, part.x))); err != nil {
				t.Fatal(err)
			}
			resumed := session{x: other, step: part.step, done: part.done}
			resumed.units(t, all-at)
			if !bytes.Equal(saved(t, other), want) {
				t.Fatalf("resumed after unit %d: another agent", at)
			}
		}
		part.units(t, 1)
	}
	if whole.x.Updates() != 2 {
		t.Errorf("%d updates", whole.x.Updates())
	}
}

// TestWorkersDoNotMatter makes updates on one and on three workers.
func TestWorkersDoNotMatter(t *testing.T) { bothObserved(t, workersDoNotMatter) }

func workersDoNotMatter(t *testing.T, c Config) {
	var all [][]byte
	for _, threads := range []int{1, 3} {
		s := session{x: newAgent(t, c, filledLog(c, 400, 50), threads)}
		s.units(t, 2*c.pace().Updates*s.x.units())
		all = append(all, saved(t, s.x))
	}
	if !bytes.Equal(all[0], all[1]) {
		t.Error("other numbers on three workers than on one")
	}
}

// TestNothingMovesWithoutAFiniteUpdate gives the world a reward that is no number: the update stops, and neither
// parameters nor what later updates depend on has changed, but for their count.
func TestNothingMovesWithoutAFiniteUpdate(t *testing.T) {
	c := small()
	log := filledLog(c, 400, 50)
	s := session{x: newAgent(t, c, log, 1)}
	s.units(t, 2*s.x.units())
	before := saved(t, s.x)
	log.Add(0, experience.Step{Action: make([]float32, 2), Reward: float32(math.NaN()), Next: experience.Look{Numbers: make([]float32, 3)}})
	for range 5 {
		log.Add(0, experience.Step{Action: make([]float32, 2), Next: experience.Look{Numbers: make([]float32, 3)}})
	}
	s.made = nil
	for len(s.made) == 0 || s.made[len(s.made)-1].Err == nil {
		if len(s.made) == 100 {
			t.Fatal("the reward is never learned from")
		}
		before = saved(t, s.x)
		s.units(t, s.x.units())
	}
	after := saved(t, s.x)
	count := len(magic)
	if !bytes.Equal(after[:count], before[:count]) || !bytes.Equal(after[count+8:], before[count+8:]) {
		t.Error("an update without effect has changed something")
	}
	if s.made[len(s.made)-1].Stepped {
		t.Error("it has stepped")
	}
}

// TestGoldenReplay holds the choice of sequences, and when learning begins, to what the original's replay did.
func TestGoldenReplay(t *testing.T) {
	var r struct {
		Starts struct {
			Of []struct {
				Envs  int
				First int `json:"first_step_with_an_update"`
			}
		} `json:"learning_starts"`
		Fresh struct {
			Starts  []int `json:"start_of_row"`
			Fresh   int
			IsFirst golden.Array `json:"is_first"`
			IsLast  golden.Array `json:"is_last"`
		} `json:"fresh_first"`
	}
	golden.Recorded(t, "dreamer_replay.json", &r)
	for _, of := range r.Starts.Of {
		c := Config{Settings: DefaultSettings, Shape: replay.Shape{Obs: 1, Act: 1}, Copies: of.Envs}
		log := experience.NewLog(experience.Shape{Numbers: 1, Act: 1, Copies: of.Envs}, experience.Keep{Looks: 1 << 14, Steps: 1 << 12})
		m := newMemory(c, log, rng.New(1, "sequences"))
		looks := 0
		for m.Len(c.Length+1) < c.rows() {
			for i := range of.Envs {
				if looks < of.Envs {
					log.Begin(i, experience.Look{Numbers: []float32{0}})
				} else {
					log.Add(i, experience.Step{Action: []float32{0}, Next: experience.Look{Numbers: []float32{0}}})
				}
				looks++
			}
		}
		if looks != of.First {
			t.Errorf("%d environments: learning begins after %d steps, want %d", of.Envs, looks, of.First)
		}
	}
	// 23 looks of one environment, of which the first of an episode are numbers 0, 8 and others as recorded.
	s := DefaultSettings
	s.Length = 4
	c := Config{Settings: s, Shape: replay.Shape{Obs: 1, Act: 1}, Copies: 1}
	log := experience.NewLog(experience.Shape{Numbers: 1, Act: 1, Copies: 1}, experience.Keep{Looks: 100, Steps: 50})
	for i := 1; i <= 23; i++ {
		look := experience.Look{Numbers: []float32{float32(i)}}
		if i == 1 || i == 9 {
			log.Begin(0, look)
			continue
		}
		end := experience.Continues
		if i == 8 {
			end = experience.Truncated
		}
		log.Add(0, experience.Step{Action: []float32{0}, Next: look, End: end})
	}
	m := newMemory(c, log, rng.New(1, "sequences"))
	fresh := make([]uint64, 1)
	for row, want := range r.Fresh.Starts {
		if err := m.draw(fresh, 0, row); err != nil {
			t.Fatal(err)
		}
		if row < r.Fresh.Fresh {
			if got := m.read.Looks[0].Numbers[0]; int(got) != want {
				t.Errorf("row %d begins with look %v, want %d", row, got, want)
			}
			for i := 1; i < 5; i++ { // the first look is context
				if first := r.Fresh.IsFirst.Data[row*5+i] == 1; m.read.First[i] != first {
					t.Errorf("row %d, look %d: first of its episode %v, want %v", row, i, m.read.First[i], first)
				}
			}
		}
	}
	if fresh[0] != uint64(r.Fresh.Fresh) {
		t.Errorf("%d sequences of new looks, want %d", fresh[0], r.Fresh.Fresh)
	}
}

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
		if math.Abs(float64(deter[0]-d[0])) > 1.0/math.MaxInt16 || deter[1] != d[1] || !slices.Equal(stoch, s) {
			t.Fatalf("look %d: %v %v, want %v %v", look, deter, stoch, d, s)
		}
	}
}

// TestUpdatesKeepWhatTheySaw makes an update: its latents are kept for the looks they are of, and its sequences of
// new looks are not new again.
func TestUpdatesKeepWhatTheySaw(t *testing.T) {
	c := small()
	s := session{x: newAgent(t, c, filledLog(c, 400, 50), 1)}
	s.units(t, s.x.units())
	b, m := s.x.batch, s.x.memory
	deter, stoch := make([]float32, c.Deter), make([]float32, c.groups())
	want, chosen := b.latents()
	seen := map[experience.Ref]int{} // looks of several sequences have the latent of the last one
	for row, from := range b.refs {
		for at := range c.Length {
			seen[experience.Ref{Copy: from.Copy, Number: from.Number + uint64(at)}] = at*c.Sequences + row
		}
	}
	numbers := make([]float32, c.Shape.Obs)
	for look, at := range seen {
		held, _ := m.Log.Look(look)
		symlog(numbers, held.Numbers)
		if !slices.Equal(numbers, b.obs[at*c.Shape.Obs:][:c.Shape.Obs]) {
			t.Fatalf("row %d is not of look %v", at, look)
		}
		m.latents[look.Copy].get(look.Number, deter, stoch)
		if !slices.Equal(stoch, chosen[at*len(stoch):][:len(stoch)]) {
			t.Fatalf("look %v: the latent of another one is kept", look)
		}
		for j, v := range deter {
			if math.Abs(float64(v-want[at*len(deter)+j])) > 1.0/math.MaxInt16 {
				t.Fatalf("look %v: the latent of another one is kept", look)
			}
		}
	}
	if looks := uint64(c.Length + 1); m.fresh[0] != min(uint64(c.Sequences), (m.Log.Last(0).Number+1)/looks) {
		t.Errorf("%d sequences of new looks were learned from", m.fresh[0])
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
	var policy bytes.Buffer
	if err := x.SavePolicy(&policy); err != nil {
		t.Fatal(err)
	}
	other, err := New(c, nil, newDevice(t, 1), 2)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.LoadPolicy(&policy); err != nil {
		t.Fatal(err)
	}
	y := agent.Acting{Copies: 1, Obs: obs[:3], Actions: make([]float32, 2), State: make([]float32, size), Step: 3, Mode: agent.Mean}
	if err := other.Act(&y); err != nil {
		t.Fatal(err)
	}
	// The noise of a latent is the agent's own, so that only a policy without it would do the same.
	if len(y.Actions) != 2 || y.Actions[0] < -1 || y.Actions[0] > 1 {
		t.Error(y.Actions)
	}
}

// TestUpdatesAllocateNothing makes updates, after some first ones.
func TestUpdatesAllocateNothing(t *testing.T) { bothObserved(t, updatesAllocateNothing) }

func updatesAllocateNothing(t *testing.T, c Config) {
	s := session{x: newAgent(t, c, filledLog(c, 400, 50), 1)}
	s.units(t, 4*s.x.units())
	s.made = make([]agent.UpdateResult, 0, 100)
	if n := testing.AllocsPerRun(3, func() { s.units(t, 2*s.x.units()) }); n > 0 {
		t.Errorf("%v allocations in two updates", n)
	}
}

// TestParts holds the parts and the pace of updates to the batch.
func TestParts(t *testing.T) {
	c := small()
	if c.rows()%c.partRows() != 0 || c.partRows() > mostRows || c.rows()/c.partRows() < 2 {
		t.Errorf("%d rows in parts of %d", c.rows(), c.partRows())
	}
	if p := c.pace(); p.Updates != 2 || p.Every != 1 || p.From != c.rows()+c.Length-1 {
		t.Errorf("%+v", p)
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
	if share := float64(changed) / float64(c.rows()); math.Abs(share-c.NoiseShare) > 0.1 {
		t.Errorf("%v of the rows have noise, want %v", share, c.NoiseShare)
	}
	if got, want := math.Sqrt(squares/float64(changed*o)), c.NoiseStd*math.Sqrt(meanVariance(rows, o)); math.Abs(got-want) > 0.15*want {
		t.Errorf("deviation %v, want %v", got, want)
	}
	if !slices.Equal(clean.x.batch.action, noised.x.batch.action) || !slices.Equal(clean.x.batch.reward, noised.x.batch.reward) {
		t.Error("noise in something else than observations")
	}
}

// TestBatchesAreOfTheLog compares a batch with the log, episodes that end truly, by time, or were given up among it.
func TestBatchesAreOfTheLog(t *testing.T) {
	c := small()
	log := experience.NewLog(experience.Shape{Numbers: 3, Act: 2, Copies: 1}, experience.Keep{Looks: 800, Steps: 400})
	for i := range 400 {
		if i%10 == 0 {
			log.Begin(0, experience.Look{Numbers: make([]float32, 3)})
		}
		end := experience.Continues
		if i%10 == 9 {
			end = []experience.End{experience.Terminated, experience.Truncated, experience.Continues}[i/10%3]
		}
		log.Add(0, experience.Step{Action: []float32{float32(i) / 400, -1}, Reward: float32(i), Next: experience.Look{Numbers: []float32{float32(i), 0, 1}}, End: end})
	}
	x := newAgent(t, c, log, 1)
	b := newBatch(c)
	if err := b.fill(x, make([]uint64, 1)); err != nil {
		t.Fatal(err)
	}
	ends := map[experience.End]int{}
	for row, from := range b.refs {
		for at := range c.Length {
			i, look := at*c.Sequences+row, experience.Ref{Copy: 0, Number: from.Number + uint64(at)}
			met, led := log.Met(look)
			_, more := log.Met(experience.Ref{Copy: 0, Number: look.Number + 1})
			_, held := log.Look(experience.Ref{Copy: 0, Number: look.Number + 1})
			given := held && !more && at+1 < c.Length // the next look begins an episode
			want := struct {
				first, last, terminal bool
				reward, continues     float32
			}{!led, given || led && met.End != experience.Continues, led && met.End == experience.Terminated, 0, 1 - 1.0/333}
			action := make([]float32, 2)
			if led {
				want.reward, action = met.Observed, met.Action
				ends[met.End]++
			}
			if want.terminal {
				want.continues = 0
			}
			if b.first[i] != want.first || b.last[i] != want.last || b.terminal[i] != want.terminal || b.reward[i] != want.reward || b.continues[i] != want.continues || !slices.Equal(b.action[i*2:][:2], action) {
				t.Fatalf("look %d: first %v, last %v, terminal %v, reward %v, continues %v, action %v; want %+v, %v", look.Number, b.first[i], b.last[i], b.terminal[i], b.reward[i], b.continues[i], b.action[i*2:][:2], want, action)
			}
		}
	}
	if ends[experience.Terminated] == 0 || ends[experience.Truncated] == 0 {
		t.Errorf("the batch has these ends: %v", ends)
	}
}
