package lab

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"pgrlab/core/agent"
	"pgrlab/core/generative"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// world is a scripted world: every part does little, remembers what it was asked
// for and answers with numbers that depend on all of it, so that a draw that is
// not where it was shows in the journal.
type world struct {
	log   []string
	hooks map[string]func() // called before the call of that name is answered
	fail  map[string]error  // what calls return

	obs      [][]float32 // of every transition's first observation, as the environment saw it
	terminal int         // episodes end truly at this length; 0: at the time limit only
}

func (w *world) call(format string, args ...any) error {
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

func newWorld() *world { return &world{hooks: map[string]func(){}, fail: map[string]error{}} }

func (w *world) task() Task {
	return Task{
		Name: "world", ObsSize: worldObs, ActSize: worldAct, EpisodeSteps: worldEpisode,
		New:    func(seed uint64) (Env, error) { return &worldEnv{w: w, seed: seed}, nil },
		NewVec: func(n int, seed uint64) (VecEnv, error) { return &worldVec{w: w, n: n, seed: seed}, nil },
	}
}

func (w *world) parts() parts {
	return parts{
		learner: func(seed uint64) (learner, error) {
			return &worldAgent{w: w, seed: seed, batches: map[int]*replay.Batch{}}, nil
		},
		curiosity: func(seed uint64) (curiosity, error) {
			if err := w.call("build curiosity"); err != nil {
				return nil, err
			}
			return &worldModel{w: w, name: relevanceCuriosity, batch: replay.NewBatch(worldShape, 4)}, nil
		},
		generator: func(seed uint64) (generator, error) { return &worldGenerator{w: w}, nil },
		model: func(name string, seed uint64) (model, error) {
			if err := w.call("build %s", name); err != nil {
				return nil, err
			}
			if name == relevanceRND {
				return &worldModel{w: w, name: name, batch: replay.NewBatch(worldShape, 4)}, nil
			}
			return relevance.NewCount(relevance.DefaultCount(worldObs, worldAct))
		},
		relevance: func(name string, values relevance.Values, models map[string]model) (relevance.Function, error) {
			if models[name] != nil {
				return models[name], nil
			}
			return relevance.New(name, relevance.Deps{Values: values})
		},
	}
}

// config is a run of that world that takes milliseconds: 6 random steps, a refit
// at step 20 and every 20 steps, an evaluation every 15.
func (w *world) config() Config {
	c := Config{
		Task: "world", Method: "pgr-curiosity", Scale: "test", Device: "cpu", Seed: 7, Members: 1,
		Steps: 60, StartSteps: 5, Buffer: 1000, Lanes: 2,
		Evaluation: Evaluation{Every: 15, Episodes: 3, DormantStates: 8, DormantTau: 0.025},
		Agent:      Agent{Hidden: []int{4}, Critics: 2, Subset: 2, Gamma: 0.99, PolicyDelay: 20},
		Replay:     Replay{Priority: FunctionNone},
		Bonus:      Bonus{Function: FunctionNone},
		Curiosity:  Curiosity{Every: 4, Warmup: 3},
		RND:        RND{Every: 4, Warmup: 5},
		Generator:  Generator{Kind: GeneratorDiffusion, Slice: 2},
		Knobs: Settings{
			Relevance: "curiosity", Guidance: 2, TopFraction: 0.25, Ratio: 0.5, Hold: HoldBatch, UTD: 4, Batch: 8,
			LRActor: 3e-4, LRCritic: 3e-4, Tau: 0.005, RefitEvery: 20, Samples: 12, SamplerSteps: 3,
			GeneratorSteps: 10, LRGenerator: 3e-4, PUncond: 0.25,
		},
	}
	c.Generator.Conditional = true
	return c
}

// clock is a time that goes on by a millisecond whenever it is read.
func clock() func() time.Time {
	at := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	return func() time.Time {
		at = at.Add(time.Millisecond)
		return at
	}
}

func (w *world) lab(t testing.TB, c Config, folder record) *Lab {
	t.Helper()
	l, err := newLab(c, w.task(), folder, w.parts(), "cpu test, 2 threads", clock())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// memoryFolder is a run folder in memory, whose disk may be full.
type memoryFolder struct {
	journal bytes.Buffer
	files   map[string][]byte
	full    atomic.Bool
	closed  bool
}

func (f *memoryFolder) Dir() string { return "memory" }
func (f *memoryFolder) Append(l run.Line) error {
	if f.full.Load() {
		return errors.New("write journal memory: no space left on device")
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

// canonical is the deterministic part of the journal.
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

// keep and kept are the states of the world's parts.
func keep(w io.Writer, v ...float64) error { return binary.Write(w, binary.LittleEndian, v) }
func kept(r io.Reader, n int) ([]float64, error) {
	v := make([]float64, n)
	return v, binary.Read(r, binary.LittleEndian, v)
}

type worldEnv struct {
	w       *world
	seed    uint64
	episode uint64
	t       int
	now     []float32
}

func (e *worldEnv) ObsSize() int { return worldObs }
func (e *worldEnv) ActSize() int { return worldAct }

func (e *worldEnv) look(obs []float32, action float64) {
	e.now = []float32{float32(blend(float64(e.seed), float64(e.episode), float64(e.t), action)), float32(e.t)}
	copy(obs, e.now)
}

func (e *worldEnv) Reset(episode uint64, obs []float32) error {
	e.episode, e.t = episode, 0
	e.look(obs, 0)
	return e.w.call("reset %d", episode)
}

func (e *worldEnv) Step(action, obs []float32) (float64, bool, bool, error) {
	e.w.obs = append(e.w.obs, append([]float32(nil), e.now...))
	e.t++
	e.look(obs, float64(action[0]))
	terminated := e.w.terminal > 0 && e.t >= e.w.terminal
	return float64(obs[0]), terminated, e.t == worldEpisode, e.w.call("step")
}

func (e *worldEnv) Save(w io.Writer) error {
	return keep(w, float64(e.episode), float64(e.t), float64(e.now[0]), float64(e.now[1]))
}
func (e *worldEnv) Load(r io.Reader) error {
	v, err := kept(r, 4)
	e.episode, e.t, e.now = uint64(v[0]), int(v[1]), []float32{float32(v[2]), float32(v[3])}
	return err
}
func (e *worldEnv) Close() error { return nil }

func (e *worldEnv) Pose(dst []float64) []float64 {
	return append(dst, float64(e.episode), float64(e.t))
}

type worldVec struct {
	w       *world
	n       int
	seed    uint64
	episode uint64
	t       int
}

func (v *worldVec) Size() int    { return v.n }
func (v *worldVec) ObsSize() int { return worldObs }
func (v *worldVec) ActSize() int { return worldAct }

func (v *worldVec) Reset(episode uint64, obs []float32) error {
	v.episode, v.t = episode, 0
	return v.w.call("evaluate episodes %d", episode)
}

// Step ends copy i after 10·(i+1) steps.
func (v *worldVec) Step(actions, obs []float32, rewards []float64, ended []bool) error {
	v.t++
	for i := range v.n {
		rewards[i] = 0
		if !ended[i] {
			rewards[i] = float64(i + 1)
			obs[i*worldObs] = float32(blend(float64(v.seed), float64(v.episode), float64(v.t)))
		}
		ended[i] = v.t >= 10*(i+1)
	}
	return v.w.call("evaluation step")
}
func (v *worldVec) Save(w io.Writer) error { return keep(w, float64(v.episode), float64(v.t)) }
func (v *worldVec) Load(r io.Reader) error {
	k, err := kept(r, 2)
	v.episode, v.t = uint64(k[0]), int(k[1])
	return err
}
func (v *worldVec) Close() error { return nil }

type worldAgent struct {
	w       *world
	seed    uint64
	updates int
	batches map[int]*replay.Batch
}

func (a *worldAgent) Batch(size int) (*replay.Batch, error) {
	if a.batches[size] == nil {
		a.batches[size] = replay.NewBatch(worldShape, size)
		a.batches[size].Weight = make([]float32, size)
	}
	return a.batches[size], nil
}

func (a *worldAgent) Update(size int, live agent.Rates, last bool) (agent.Losses, bool, error) {
	a.updates++
	b := a.batches[size]
	l := agent.Losses{
		Critic: blend(blend32(b.Obs), blend32(b.Act), live.LRCritic, live.Tau), QMean: blend32(b.Next),
		Actor: math.NaN(), Alpha: math.NaN(), AlphaValue: 1,
	}
	if last {
		l.Actor = blend(l.Critic, live.LRActor)
	}
	return l, last, a.w.call("update")
}

func (a *worldAgent) Act(dst, obs []float32, step, _ uint64) error {
	dst[0] = float32(blend(blend32(obs), float64(step), float64(a.updates)))
	return a.w.call("act")
}

func (a *worldAgent) ActMean(dst, obs []float32, rows int) error {
	for i := range rows {
		dst[i] = obs[i*worldObs]
	}
	return a.w.call("act mean %d", rows)
}

func (a *worldAgent) Q(dst, obs []float32, rows int) error {
	for i := range rows {
		dst[i] = float32(blend(float64(obs[i*worldObs]), float64(a.updates)))
	}
	return a.w.call("score return %d", rows)
}

func (a *worldAgent) TDError(dst []float32, b *replay.Batch, rows int) error {
	for i := range rows {
		dst[i] = b.Reward[i] - float32(a.updates)
	}
	return a.w.call("score td %d", rows)
}

func (a *worldAgent) Errors(dst []float32, size int) error {
	b := a.batches[size]
	for i := range size {
		dst[i] = float32(blend(float64(b.Reward[i]), float64(a.updates)))
	}
	return a.w.call("errors %d", size)
}

func (a *worldAgent) Activations(obs []float32, rows int) ([]agent.Layer, error) {
	post := make([]float32, 2*rows)
	for i := range rows {
		post[2*i] = obs[i*worldObs]
	}
	return []agent.Layer{{Name: "hidden 1", Pre: post, Post: post, Rows: rows, Units: 2}}, a.w.call("activations %d", rows)
}

func (a *worldAgent) SavePolicy(w io.Writer) error {
	fmt.Fprintf(w, "policy after %d updates", a.updates)
	return a.w.call("save policy")
}
func (a *worldAgent) Close() error           { return nil }
func (a *worldAgent) Save(w io.Writer) error { return keep(w, float64(a.updates)) }
func (a *worldAgent) Load(r io.Reader) error {
	v, err := kept(r, 1)
	a.updates = int(v[0])
	return err
}

type worldModel struct {
	w       *world
	name    string
	batch   *replay.Batch
	updates int
}

func (m *worldModel) Name() string         { return m.name }
func (m *worldModel) Batch() *replay.Batch { return m.batch }
func (m *worldModel) Close() error         { return nil }
func (m *worldModel) PaperScale() float64  { return 32 }

func (m *worldModel) Save(w io.Writer) error { return keep(w, float64(m.updates)) }
func (m *worldModel) Load(r io.Reader) error {
	v, err := kept(r, 1)
	m.updates = int(v[0])
	return err
}

func (m *worldModel) Train() (float64, error) {
	m.updates++
	return blend32(m.batch.Obs), m.w.call("train %s", m.name)
}

func (m *worldModel) Score(dst []float32, b *replay.Batch, rows int) error {
	for i := range rows {
		dst[i] = float32(blend(float64(b.Obs[i*worldObs]), float64(m.updates)))
	}
	return m.w.call("score %s %d", m.name, rows)
}

// worldGenerator needs as many calls for a generation as there are sampler steps,
// and finishes all transitions with the last one.
type worldGenerator struct {
	w      *world
	fit    generative.FitKnobs
	knobs  generative.GenKnobs
	steps  int
	calls  int
	scores float64
	seed   float64
}

func (g *worldGenerator) StartFit(real generative.Rows, scores []float32, k generative.FitKnobs, refit uint64) error {
	g.fit, g.steps, g.scores = k, 0, blend(blend32(scores), float64(refit), blend32(real.Row(real.Len()-1)))
	return g.w.call("start fit %d of %d rows, %d scores, lr %g", refit, real.Len(), len(scores), k.LR)
}

func (g *worldGenerator) FitSteps(n int) (float64, bool, error) {
	g.steps += n
	return blend(g.scores, float64(g.steps)), g.steps == g.fit.Steps, g.w.call("fit to %d", g.steps)
}

func (g *worldGenerator) StartGenerate(k generative.GenKnobs, occasion uint64) error {
	g.knobs, g.calls, g.seed = k, 0, blend(g.scores, float64(occasion), k.Guidance)
	return g.w.call("start generate %d, guidance %g", occasion, k.Guidance)
}

func (g *worldGenerator) GenerateSlice() ([]float32, int, int, error) {
	g.calls++
	var rows []float32
	if g.calls == g.knobs.Steps {
		for i := range g.knobs.Samples * worldShape.Width() {
			rows = append(rows, float32(blend(g.seed, float64(i))))
		}
	}
	return rows, g.calls, g.knobs.Steps, g.w.call("generate %d", g.calls)
}

// Asked is what the world's generations never obey.
func (g *worldGenerator) Asked(k generative.GenKnobs, occasion uint64, n int) []float32 {
	asked := make([]float32, n)
	for i := range asked {
		asked[i] = float32(blend(g.scores, float64(occasion), float64(i)))
	}
	return asked
}

func (g *worldGenerator) Sketch(k generative.GenKnobs, occasion uint64) (func() ([]float32, int, int, error), error) {
	beside := *g
	if err := beside.w.call("sketch %d, guidance %g", occasion, k.Guidance); err != nil {
		return nil, err
	}
	beside.knobs, beside.calls, beside.seed = k, 0, blend(g.scores, float64(occasion), k.Guidance)
	quiet := newWorld()
	beside.w = quiet
	return beside.GenerateSlice, nil
}

func (g *worldGenerator) Save(w io.Writer) error {
	return keep(w, g.scores, g.seed, float64(g.steps), float64(g.calls), float64(g.fit.Steps), float64(g.knobs.Steps), float64(g.knobs.Samples))
}
func (g *worldGenerator) Load(r io.Reader, _ generative.Rows) error {
	v, err := kept(r, 7)
	g.scores, g.seed, g.steps, g.calls = v[0], v[1], int(v[2]), int(v[3])
	g.fit.Steps, g.knobs.Steps, g.knobs.Samples = int(v[4]), int(v[5]), int(v[6])
	return err
}

func (g *worldGenerator) Cancel()      { g.w.call("cancel") }
func (g *worldGenerator) Close() error { return nil }
