package lab

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pgrlab/core/agent"
	"pgrlab/core/config"
	"pgrlab/core/experience"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/replica"
	"pgrlab/core/run"
	"pgrlab/core/task"
	"pgrlab/core/testing/pace"
)

// world is a scripted world. Every part does little, remembers its calls and returns numbers that
// depend on all of them, so that a misplaced draw shows in the journal.
type world struct {
	log   []string
	hooks map[string]func() // called before the call of that name returns
	fail  map[string]error  // errors that calls return

	started  int                                                // environments made
	obs      [][]float32                                        // first observation of every transition, as the environment returned it
	learner  func(log *experience.Log, seed uint64) *agent.Made // nil: worldAgent
	keep     experience.Keep                                    // of the log that the learner reads
	terminal int                                                // episodes end truly at this length; 0: at the time limit only
	spread   int                                                // each episode is a step longer than the one before, in a cycle of this many
	rows     replay.Shape                                       // shape of D_real, if the learner fills it; otherwise that of the environment
}

func (w *world) call(format string, args ...any) error {
	pace.Unit()
	name := fmt.Sprintf(format, args...)
	w.log = append(w.log, name)
	if hook := w.hooks[name]; hook != nil {
		hook()
	}
	return w.fail[name]
}

func (w *world) on(name string, hook func()) { w.hooks[name] = hook }

const (
	worldObs     = 2
	worldAct     = 1
	worldEpisode = 60
)

var worldShape = replay.Shape{Obs: worldObs, Act: worldAct}

// shape returns the shape of D_real.
func (w *world) shape() replay.Shape {
	if w.rows != (replay.Shape{}) {
		return w.rows
	}
	return worldShape
}

func (w *world) uneven() int { return max(1, w.spread) }

func newWorld() *world { return &world{hooks: map[string]func(){}, fail: map[string]error{}} }

func (w *world) task() task.Task {
	return task.Task{
		Name: "world", ObsSize: worldObs, ActSize: worldAct, EpisodeSteps: worldEpisode,
		New: func(seed uint64) (task.Env, error) {
			w.started++
			return &worldEnv{w: w, seed: seed}, nil
		},
		NewVec: func(n int, seed uint64) (task.VecEnv, error) { return &worldVec{w: w, n: n, seed: seed}, nil },
	}
}

func (w *world) parts() parts {
	return parts{Parts: replica.Parts{
		Shape: w.shape(), Fills: w.rows != (replay.Shape{}), Keep: w.keep, Random: w.learner == nil,
		Learner: func(log *experience.Log, seed uint64) (*agent.Made, error) {
			if w.learner != nil {
				return w.learner(log, seed), nil
			}
			a := &worldAgent{w: w, seed: seed, batches: map[int]*replay.Batch{}}
			return &agent.Made{Learner: a, Batches: a, Values: a}, nil
		},
		Generator: func(_ agent.Policy, seed uint64) (generative.Generator, error) { return &worldGenerator{w: w}, nil },
		Relevance: func(name string, _ *experience.Log, values relevance.Values, _ generative.Generator, seed uint64) (*relevance.Model, error) {
			spec, err := relevance.Find(name)
			if err != nil || spec.Learning == relevance.LearnsNothing {
				return relevance.New(name, relevance.Deps{Values: values})
			}
			if err := w.call("build %s", name); err != nil {
				return nil, err
			}
			if spec.Learning == relevance.LearnsInRounds {
				return nil, fmt.Errorf("relevance %q is of episodes", name)
			}
			if spec.Learning == relevance.LearnsInSteps {
				return relevance.Of(&worldModel{w: w, name: name, batch: replay.NewBatch(w.shape(), 4)}), nil
			}
			count, err := relevance.NewCount(relevance.DefaultCount(), w.shape())
			return relevance.Of(count), err
		},
	}}
}

// config is a run of the scripted world that takes milliseconds: 6 random steps, a refit at step 20
// and every 20 steps, an evaluation every 15.
func (w *world) config() config.Config {
	c := config.Config{
		Task: "world", Method: "pgr-curiosity", Scale: "test", Device: "cpu", Seed: 7, Members: 1,
		Steps: 60, StartSteps: 5, Buffer: 1000,
		Evaluation: config.Evaluation{Every: 15, Episodes: 3, DormantStates: 8},
		Agent:      agent.Config{Hidden: []int{4}, Critics: 2, Subset: 2, Gamma: 0.99, PolicyDelay: 20},
		Replay:     config.Replay{Priority: config.FunctionNone},
		Bonus:      config.Bonus{Function: config.FunctionNone},
		Relevance: relevance.Configs{
			"curiosity": relevance.ICMConfig{Cadence: relevance.Cadence{Every: 4, Warmup: 3}},
			"rnd":       relevance.RNDConfig{Cadence: relevance.Cadence{Every: 4, Warmup: 5}},
		},
		Generator: config.Generator{Kind: "diffusion", Slice: 2},
		Knobs: knob.Settings{
			Relevance: "curiosity", Guidance: 2, TopFraction: 0.25, Ratio: 0.5, Hold: knob.HoldBatch, UTD: 4, Batch: 8,
			LRActor: 3e-4, LRCritic: 3e-4, Tau: 0.005, RefitEvery: 20, Samples: 12, SamplerSteps: 3,
			GeneratorSteps: 10, LRGenerator: 3e-4, PUncond: 0.25,
		},
	}
	c.Generator.Conditional = true
	return c
}

// clock returns a time that advances by a millisecond whenever it is read.
func clock() func() time.Time {
	var reads atomic.Int64
	return func() time.Time {
		return time.Date(2025, 1, 1, 0, 0, 0, int(reads.Add(1))*int(time.Millisecond), time.UTC)
	}
}

func (w *world) lab(t testing.TB, c config.Config, folder record) *Lab {
	t.Helper()
	l, err := newLab(inEnvSteps(c), w.task(), folder, w.parts(), "cpu test, 2 threads", clock())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// memoryFolder is a run folder in memory, whose disk may fail.
type memoryFolder struct {
	journal bytes.Buffer
	files   map[string][]byte
	fault   atomic.Uint64 // the journal's syscall.Errno; 0: none
	closed  bool
}

func (f *memoryFolder) Dir() string { return "memory" }
func (f *memoryFolder) Append(l run.Line) error {
	if e := syscall.Errno(f.fault.Load()); e != 0 {
		return fmt.Errorf("write journal memory: %w", e)
	}
	text, err := l.MarshalJSON()
	f.journal.Write(append(text, '\n'))
	return err
}
func (f *memoryFolder) Save(name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	err := write(&b)
	if f.files == nil {
		f.files = map[string][]byte{}
	}
	f.files[name] = b.Bytes()
	return err
}
func (f *memoryFolder) Sync() error  { return nil }
func (f *memoryFolder) Close() error { f.closed = true; return nil }

// canonical returns the deterministic part of the journal.
func (f *memoryFolder) canonical(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	if err := run.Canonical(bytes.NewReader(f.journal.Bytes()), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func blend(parts ...float64) float64 {
	h := 0.5
	for _, p := range parts {
		h = math.Mod(math.Abs(h*1.37+p*0.731+0.11), 1)
	}
	return h
}

func blend32(x []float32) float64 {
	h := 0.3
	for _, v := range x {
		h = blend(h, float64(v))
	}
	return h
}

// keep and kept write and read the states of the world's parts.
func keep(w io.Writer, v ...float64) error { return binary.Write(w, binary.LittleEndian, v) }
func kept(r io.Reader, n int) ([]float64, error) {
	v := make([]float64, n)
	return v, binary.Read(r, binary.LittleEndian, v)
}

// changeICM changes the settings of the curiosity model.
func changeICM(c *config.Config, change func(*relevance.ICMConfig)) {
	icm := c.Relevance.Of("curiosity").(relevance.ICMConfig)
	change(&icm)
	c.Relevance = c.Relevance.With("curiosity", icm)
}
