package dreamer

import (
	"bytes"
	"math"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/device/cpu"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/testing/cputest"
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

// newAgent returns an agent whose device gives work to all of its workers, however little: small agents would
// run on the first one alone.
func newAgent(t testing.TB, c Config, log *experience.Log, threads int) *Agent {
	t.Helper()
	x, err := New(c, log, cputest.New(t, cpu.Options{Threads: threads, LeastShare: 1}), 1)
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
	if !bytes.Equal(after[8:], before[8:]) {
		t.Error("an update without effect has changed something")
	}
	if s.made[len(s.made)-1].Stepped {
		t.Error("it has stepped")
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
