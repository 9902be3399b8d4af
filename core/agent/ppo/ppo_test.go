package ppo

import (
	"math"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/experience"
	"pgrlab/core/op"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/cputest"
)

// small configures an agent that learns in milliseconds.
func small() Config {
	c := DefaultConfig(replay.Shape{Obs: 4, Act: 3}, 3)
	c.Hidden, c.Steps, c.Minibatches, c.Epochs = []int{8, 6}, 8, 4, 2
	return c
}

// sighted is small with frames instead of observations.
func sighted() Config {
	c := small()
	c.Side, c.Kernels, c.Strides, c.Channels = 9, []int{4, 2}, []int{2, 1}, []int{3, 4}
	return c
}

// bothObserved runs a test for an agent of observations and for one of frames.
func bothObserved(t *testing.T, test func(t *testing.T, c Config)) {
	for name, c := range map[string]Config{"observations": small(), "frames": sighted()} {
		t.Run(name, func(t *testing.T) { test(t, c) })
	}
}

// newDevice returns a device that gives work to all of its workers, however little: small agents would run on the
// first one alone.
func newDevice(t testing.TB, threads int) *cpu.Device {
	t.Helper()
	return cputest.New(t, cpu.Options{Threads: threads, LeastShare: 1})
}

func newAgent(t testing.TB, c Config, dev device.Device) *Agent {
	t.Helper()
	x, err := New(c, newLog(c), dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// session drives an agent in copies of a task as an experiment does. The context is a function of
// the copy and the env step alone; the right choice earns 1. A copy's episode meets its time limit
// every eighth step, or ends by itself every fifth.
type session struct {
	x      *Agent
	rates  agent.Rates
	step   int
	done   int // units of the iteration under way
	total  int // units in the iteration; 0: no iteration is under way
	earned float64

	learner learner           // x, or the agent that x is a part of
	source  agent.BatchSource // of iterations
}

// learner observes env steps and learns from them.
type learner interface {
	Phases() []agent.Phase
}

func newSession(x *Agent) *session {
	return &session{x: x, learner: x, rates: agent.Rates{LRActor: 3e-3}}
}

// context writes a copy's observation.
func (s *session) context(dst []float32, copied, step int) (right int) {
	clear(dst)
	at := int(rng.New(4, "contexts").Block(uint64(step), uint64(copied))[0] % uint32(len(dst)))
	dst[at] = 1
	return at % s.x.config.Shape.Act
}

// see draws a copy's frame: some noise, and a bright line whose height shows the context.
func (s *session) see(copied, step int) []byte {
	frame := make([]byte, s.x.config.frame())
	for i := range frame {
		frame[i] = byte(rng.New(5, "frames").Block(uint64(step), uint64(copied*len(frame)+i))[0]) / 4
	}
	obs := make([]float32, s.x.config.Shape.Obs)
	s.context(obs, copied, step)
	side := s.x.config.Side
	for at, v := range obs {
		if v == 1 {
			line := frame[2*at*side*agent.Colours:][:side*agent.Colours]
			for i := range line {
				line[i] = 220
			}
		}
	}
	return frame
}

// collect makes an env step.
func (s *session) collect(t testing.TB) {
	t.Helper()
	c := s.x.config
	n, o, a := c.Copies, c.Shape.Obs, c.Shape.Act
	e := envStep{
		Copies: n, Obs: make([]float32, n*o), Next: make([]float32, n*o), Actions: make([]float32, n*a),
		Rewards: make([]float32, n), Ends: make([]experience.End, n), Respawned: make([]bool, n),
	}
	right := make([]int, n)
	for i := range n {
		right[i] = s.context(e.Obs[i*o:(i+1)*o], i, s.step)
		s.context(e.Next[i*o:(i+1)*o], i, s.step+1)
		switch {
		case (s.step+i)%8 == 7:
			e.Ends[i] = experience.Truncated
		case (s.step+i)%5 == 4:
			e.Ends[i] = experience.Terminated
		}
	}
	var stacks [][][]byte
	if c.Side > 0 {
		for i := range n {
			e.Seen, e.NextSeen = append(e.Seen, s.see(i, s.step)), append(e.NextSeen, s.see(i, s.step+1))
			stacks = append(stacks, e.Seen[i:i+1])
		}
	}
	acting := agent.Acting{Copies: n, Obs: e.Obs, Stacks: stacks, Actions: e.Actions, Episodes: make([]uint64, n), Step: uint64(s.step), Mode: agent.Explore}
	if err := s.x.Act(&acting); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		e.Rewards[i] = e.Actions[i*a+right[i]]
		e.Respawned[i] = e.Rewards[i] == 1
		s.earned += float64(e.Rewards[i])
	}
	s.observe(&e)
	s.step++
}

// envStep is an env step of all copies: observations [Copies,O] or frames [Copies] before and after it,
// and so on.
type envStep struct {
	Copies         int
	Obs, Next      []float32
	Seen, NextSeen [][]byte
	Actions        []float32
	Rewards        []float32
	Ends           []experience.End
	Respawned      []bool
}

// observe adds an env step to what the agent has observed, and the first looks of the next episodes.
func (s *session) observe(e *envStep) {
	log, c := s.x.rollout.Log, s.x.config
	o, a := c.Shape.Obs, c.Shape.Act
	look := func(obs []float32, frames [][]byte, i int) experience.Look {
		if c.Side > 0 {
			return experience.Look{Frame: frames[i]}
		}
		return experience.Look{Numbers: obs[i*o : (i+1)*o]}
	}
	for i := range e.Copies {
		if s.step == 0 {
			log.Begin(i, look(e.Obs, e.Seen, i))
		}
		log.Add(i, experience.Step{Action: e.Actions[i*a : (i+1)*a], Reward: e.Rewards[i], Next: look(e.Next, e.NextSeen, i), End: e.Ends[i], Respawned: e.Respawned[i]})
	}
	for i, end := range e.Ends {
		if end != experience.Continues {
			log.Begin(i, look(e.Next, e.NextSeen, i))
		}
	}
}

// unit makes an env step, or the next unit of an iteration if one is due.
func (s *session) unit(t testing.TB) {
	t.Helper()
	phase := s.learner.Phases()[0]
	w := agent.Work{Step: s.step, Rates: s.rates, Source: s.source}
	if s.total == 0 {
		if !phase.Due(&w) {
			s.collect(t)
			return
		}
		var err error
		if s.total, err = phase.Start(&w); err != nil {
			t.Fatal(err)
		}
	}
	n, made, err := phase.Slice(&w, s.done)
	if err != nil || len(made) != n || made[0].Err != nil {
		t.Fatal(err, made)
	}
	if s.done += n; s.done == s.total {
		s.done, s.total = 0, 0
	}
}

func sameBits(t *testing.T, a, b *Agent) {
	t.Helper()
	for k, some := range [][]*op.Tensor{a.nets.params(), a.adam.M, a.adam.V} {
		other := [][]*op.Tensor{b.nets.params(), b.adam.M, b.adam.V}[k]
		for i := range some {
			for j, v := range some[i].Data {
				if math.Float32bits(v) != math.Float32bits(other[i].Data[j]) {
					t.Fatalf("%s: number %d is %v and %v", some[i].Name, j, v, other[i].Data[j])
				}
			}
		}
	}
	if a.updates != b.updates || a.iterations != b.iterations || a.adam.T != b.adam.T {
		t.Fatal("the counters differ")
	}
}

// One worker and two compute the same bits.
func TestWorkersDoNotChangeTheNumbers(t *testing.T) {
	bothObserved(t, func(t *testing.T, c Config) {
		var agents []*Agent
		for threads := range 2 {
			x := newAgent(t, c, newDevice(t, threads+1))
			s := newSession(x)
			for range 60 {
				s.unit(t)
			}
			agents = append(agents, x)
		}
		if agents[0].updates < 20 {
			t.Fatalf("%d updates", agents[0].updates)
		}
		sameBits(t, agents[0], agents[1])
	})
}

// An agent goes on from every place in a rollout and in an iteration as if it had not stopped.
func TestItGoesOnFromEveryPlace(t *testing.T) {
	bothObserved(t, func(t *testing.T, c Config) {
		dev := newDevice(t, 1)
		whole := newAgent(t, c, dev)
		all := newSession(whole)
		const units = 40
		for range units {
			all.unit(t)
		}
		for cut := range units {
			first := newAgent(t, c, dev)
			s := newSession(first)
			for range cut {
				s.unit(t)
			}
			second := newAgent(t, c, dev)
			carry(t, first, second, first.rollout.Log, second.rollout.Log)
			s.x, s.learner = second, second
			for range units - cut {
				s.unit(t)
			}
			sameBits(t, whole, second)
		}
	})
}

// A steady iteration allocates nothing.
func TestUpdatesDoNotAllocate(t *testing.T) {
	bothObserved(t, func(t *testing.T, c Config) {
		x := newAgent(t, c, newDevice(t, 2))
		s := newSession(x)
		for x.iterations < 2 || s.total == 0 {
			s.unit(t)
		}
		w, phase, unit := agent.Work{Step: s.step, Rates: s.rates}, x.Phases()[0], 0
		n := testing.AllocsPerRun(6, func() {
			unit = (unit + 1) % (s.total - 1) // never the last unit
			if _, _, err := phase.Slice(&w, unit); err != nil {
				t.Fatal(err)
			}
		})
		if n > 0 {
			t.Errorf("a step allocates %v times", n)
		}
	})
}

// The agent learns which choice a context needs.
func TestItLearns(t *testing.T) {
	bothObserved(t, func(t *testing.T, c Config) {
		c.Hidden = []int{32, 32}
		s := newSession(newAgent(t, c, newDevice(t, 1)))
		share := func(iterations uint64) float64 {
			from, begun := s.x.iterations, s.step
			s.earned = 0
			for s.x.iterations < from+iterations {
				s.unit(t)
			}
			return s.earned / float64((s.step-begun)*c.Copies)
		}
		first, last := share(5), 0.0
		share(240)
		if last = share(5); first > 0.6 || last < 0.95 {
			t.Errorf("of the choices %.2f were right at first and %.2f after 245 iterations", first, last)
		}
	})
}

// Choices follow the policy's probabilities; in mode Mean the likeliest one is chosen.
func TestChoicesFollowTheirProbabilities(t *testing.T) {
	x := newAgent(t, small(), newDevice(t, 1))
	logits := []float32{1, 0, -1.5}
	sum := 0.0
	for _, v := range logits {
		sum += math.Exp(float64(v))
	}
	const rounds = 30_000
	counts := make([]float64, 3)
	for step := range uint64(rounds) {
		actions := make([]float32, 3)
		choose(actions, x.shaken(logits, func(dst []float32) { x.streams.explore.FillUniform(dst, step, 0) }), 3)
		for i, v := range actions {
			counts[i] += float64(v) / rounds
		}
	}
	for i, v := range logits {
		p := math.Exp(float64(v)) / sum
		if deviation := math.Sqrt(p * (1 - p) / rounds); !(math.Abs(counts[i]-p) <= 4*deviation) {
			t.Errorf("choice %d has a share of %.4f, want %.4f ± %.4f", i, counts[i], p, deviation)
		}
	}
	obs := []float32{1, 0, 0, 0, 0, 1, 0, 0}
	first, again, other := make([]float32, 6), make([]float32, 6), make([]float32, 6)
	for mode, into := range map[agent.Mode][]float32{agent.Mean: first, agent.Sample: again, agent.Explore: other} {
		a := agent.Acting{Copies: 2, Obs: obs, Actions: into, Episodes: make([]uint64, 2), Step: 3, Mode: mode}
		if err := x.Act(&a); err != nil {
			t.Fatal(err)
		}
		for row := range 2 {
			if into[3*row]+into[3*row+1]+into[3*row+2] != 1 {
				t.Errorf("%s: %v is no choice", mode, into)
			}
		}
	}
}

// Rates and ε fall linearly and reach 0 at the configured env step.
func TestRatesFall(t *testing.T) {
	s := small()
	s.Steps, s.Anneal, s.Length = 10, 0.5, 80
	for step, want := range map[int]float64{10: 1, 20: 0.75, 40: 0.25, 50: 0, 70: 0} {
		if got := s.left(step); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("env step %d: %v, want %v", step, got, want)
		}
	}
	s.Anneal = 0
	if s.left(1000) != 1 {
		t.Error("they fall without end")
	}
}
