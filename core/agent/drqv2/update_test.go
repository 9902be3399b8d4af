package drqv2

import (
	"errors"
	"math"
	"runtime"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/device"
	"pgrlab/core/experience"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/testing/golden"
	"pgrlab/core/testing/mirrortest"
)

// One worker and two compute the same bits, in parts of a batch and at once.
func TestWorkersDoNotChangeTheNumbers(t *testing.T) {
	for _, slice := range []int{3, 12} {
		c := small()
		c.Slice = slice
		f := newFilm(c, 30)
		var agents []*Agent
		for threads := range 2 {
			x := newAgent(t, c, newDevice(t, threads+1))
			s := newSession(x, f, 12)
			for range 20 {
				s.update(t)
			}
			agents = append(agents, x)
		}
		sameBits(t, agents[0], agents[1])
	}
}

// The parts of a batch are equal, or the last one is smaller if there is no number that divides it
// into a few; none has more rows than a slice.
func TestPartsOfABatch(t *testing.T) {
	for _, x := range []struct{ size, slice, parts, rows, last int }{
		{256, 64, 4, 64, 64}, {256, 256, 1, 256, 256}, {128, 256, 1, 128, 128}, {96, 40, 3, 32, 32}, {100, 30, 4, 25, 25}, {1, 1, 1, 1, 1},
		{69, 64, 3, 23, 23}, {150, 40, 5, 30, 30}, {71, 64, 2, 36, 35}, {7, 3, 3, 3, 1}, {127, 32, 4, 32, 31},
	} {
		c := small()
		c.Slice = x.slice
		if parts, rows, last := c.parts(x.size); parts != x.parts || rows != x.rows || last != x.last {
			t.Errorf("%d rows in slices of %d: %d parts of %d, the last of %d, want %+v", x.size, x.slice, parts, rows, last, x)
		}
	}
}

// A batch whose last part is smaller teaches the same as the batch at once, but for the order of
// sums, also beside synthetic rows, on a device with memory of its own, and after a load.
func TestALastPartThatIsSmaller(t *testing.T) {
	at := func(slice int, dev device.Device) *session {
		c := small()
		c.Slice = slice
		s := newSession(newAgent(t, c, dev), newFilm(c, 30), 7)
		s.dream(4)
		return s
	}
	dev := newDevice(t, 2)
	once, parts := at(7, dev), at(3, mirrortest.New(dev))
	for range 5 {
		want := once.update(t).Losses
		for range 3 { // three parts; the policy's step is left
			if _, err := parts.slice(); err != nil {
				t.Fatal(err)
			}
			if err := parts.x.Load(saved(t, parts.x)); err != nil {
				t.Fatal(err)
			}
		}
		got := parts.update(t).Losses
		golden.Near(t, "critic loss", got.Critic, want.Critic, 1e-4)
		golden.Near(t, "actor loss", got.Actor, want.Actor, 1e-4)
		golden.Near(t, "mean value", got.QMean, want.QMean, 1e-4)
	}
	if _, err := parts.slice(); err != nil {
		t.Fatal(err)
	}
	parts.done = 6 // as in a file from when seven rows were seven parts
	parts.update(t)
}

// Updates have a cadence, and none is due before there is a row of so many env steps, or of fewer
// before a true end. Env steps of an episode that was lost do not count.
func TestUpdatesAreDueInTheirCadence(t *testing.T) {
	for _, span := range []int{1, 3, 4, 6} {
		for _, lost := range []int{0, 2} { // after that many env steps a new episode begins, without an end of the one before
			for _, ended := range []bool{false, true} {
				c := small()
				c.UpdateEvery, c.NStep = 3, span
				due := newAgent(t, c, newDevice(t, 1)).Phases()[0].Due
				frames, frame := reel(c, 0, 0), make([]byte, c.Pixels.Side*c.Pixels.Side*agent.Colours)
				if ended {
					frames = reel(c, 1, 2)
				}
				frames.Begin(0, experience.Look{Frame: frame})
				w := agent.Work{Source: agent.BatchSource{Frames: experience.Frames{Log: frames}}}
				for w.Step = 1; w.Step < 12; w.Step++ {
					if frames.Add(0, experience.Step{Action: make([]float32, c.Act), Reward: 0, Next: experience.Look{Frame: frame}}); w.Step == lost {
						frames.Begin(0, experience.Look{Frame: frame})
					}
					is := ended || lost >= span || w.Step-lost >= span
					w.Enough = true
					got := due(&w)
					if w.Enough = false; got != (w.Step%3 == 0 && is) || due(&w) {
						t.Errorf("rows of %d env steps, %d lost, an episode that has ended %v: env step %d", span, lost, ended, w.Step)
					}
				}
			}
		}
	}
}

// A steady update allocates nothing.
func TestUpdatesDoNotAllocate(t *testing.T) {
	for _, slice := range []int{4, 12} {
		c := small()
		c.Slice = slice
		x := newAgent(t, c, newDevice(t, 2))
		s := newSession(x, newFilm(c, 30), 12)
		u, err := x.updater(replay.Mix{Real: 12})
		if err != nil {
			t.Fatal(err)
		}
		x.now = progress{mix: u.mix}
		update := func() {
			for done := range u.parts + 1 {
				if _, _, err := x.slice(&s.work, done); err != nil {
					t.Fatal(err)
				}
			}
			x.now = progress{mix: u.mix}
		}
		for range 3 {
			update()
		}
		if n := testing.AllocsPerRun(20, update); n > 0 {
			t.Errorf("an update in slices of %d rows allocates %v times", slice, n)
		}
	}
}

// A number that is not finite ends the update without effect, and the next update can be made. The
// update takes as many slices as any other, so that members stay in lockstep, also if the agent is
// saved and loaded among those that do nothing.
func TestUpdatesThatAreNotFinite(t *testing.T) {
	for _, slice := range []int{3, 6} {
		c := small()
		c.Slice = slice
		f := newFilm(c, 30)
		x := newAgent(t, c, newDevice(t, 1))
		s := newSession(x, f, 6)
		s.update(t)
		other := newAgent(t, c, newDevice(t, 1))
		newSession(other, f, 6).update(t)
		rewards := f.rewards
		f.rewards = make([]float32, len(rewards))
		for i := range f.rewards {
			f.rewards[i] = float32(math.Inf(1))
		}
		var where *plan.NotFinite
		slices := 0
		for made := (*agent.UpdateResult)(nil); made == nil; slices++ {
			var err error
			if made, err = s.slice(); made != nil && (!errors.As(err, &where) || made.Stepped || !math.IsNaN(made.Losses.Critic)) {
				t.Fatalf("rewards of infinity: %+v", made)
			}
			if err := x.Load(saved(t, x)); err != nil {
				t.Fatal(err)
			}
		}
		if want := 6/slice + 1; slices != want {
			t.Errorf("%d slices, want %d", slices, want)
		}
		f.rewards = rewards
		other.updates++ // the failed update counts
		sameBits(t, x, other)
		s.update(t)
	}
}

// Critics learn values that match the returns: with a discount of 0 and rewards that depend on the
// action alone, their loss falls to 0.
func TestCriticsLearn(t *testing.T) {
	c := small()
	c.Gamma, c.NStep = 0, 1
	x := newAgent(t, c, newDevice(t, 2))
	f := newFilm(c, 30)
	for i, a := range f.actions { // each action has its reward
		f.rewards[i] = a[0]
	}
	s := newSession(x, f, 12)
	first, last := 0.0, 0.0
	for i := range 400 {
		made := s.update(t)
		if i < 20 {
			first += made.Losses.Critic
		}
		if i >= 380 {
			last += made.Losses.Critic
		}
	}
	if !(last < first/10) {
		t.Errorf("20 critic losses sum up to %v at first and to %v after 400 updates", first, last)
	}
	sum := float32(0)
	for _, stack := range f.stacks(c, 20) {
		sum += act(t, x, [][][]byte{stack}, agent.Mean, 1)[0]
	}
	if !(sum/20 > 0.5) {
		t.Errorf("the first action is worth itself; the policy's is %v in the mean", sum/20)
	}
}

// The memory forecast is never much less than what is taken.
func TestMemoryIsForecast(t *testing.T) {
	for _, slice := range []int{16, 64} {
		c := small()
		c.Pixels = agent.Pixels{Side: 64, Stack: 3, Pad: 4, Channels: 32, Strides: []int{2, 2, 1, 1}, Feature: 50}
		c.Hidden, c.Slice = []int{128, 128}, slice
		before := heap()
		x := newAgent(t, c, newDevice(t, 1))
		if err := x.Prepare(agent.Uses{Mixes: []replay.Mix{{Real: 64}}, Copies: 1, Evaluated: 10}); err != nil {
			t.Fatal(err)
		}
		took, said := heap()-before, c.Memory(64, 10)
		if took > 1.1*said || took < said/4 {
			t.Errorf("slices of %d rows: %.1f MB were taken, %.1f MB forecast", slice, took/1e6, said/1e6)
		}
		runtime.KeepAlive(x)
	}
}

func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// A cost of preactivations that is a multiple κ of mean |Q| is that with the weight κ·mean |Q|, whatever
// the sign of Q. While all Q have one sign, mean |Q| is what the policy's loss is without a cost.
func TestPreactivationsByValues(t *testing.T) {
	const kappa = 0.07
	for _, bias := range []float32{4, -4} {
		updated := func(set func(c *Config)) (*Agent, agent.Losses) {
			c := small()
			set(&c)
			x := newAgent(t, c, newDevice(t, 1))
			head := x.nets.headParams()
			last := head[len(head)-1].Data // biases of the critics' last layer
			for i := range last {
				last[i] = bias
			}
			return x, newSession(x, newFilm(c, 30), 8).update(t).Losses
		}
		_, plain := updated(func(*Config) {})
		want, without := updated(func(c *Config) { c.Preactivation = kappa * math.Abs(plain.Actor) })
		got, by := updated(func(c *Config) { c.PreactivationOfQ = kappa })
		if math.Abs(plain.Actor) < 2 || without.Actor == plain.Actor {
			t.Fatalf("the policy's loss is %g, with a cost %g", plain.Actor, without.Actor)
		}
		golden.Near(t, "actor loss", by.Actor, without.Actor, 1e-6)
		wanted := learned(want)
		for i, x := range learned(got) {
			for j, v := range x.Data {
				golden.Near(t, x.Name, float64(v), float64(wanted[i].Data[j]), 1e-5)
			}
		}
	}
}
