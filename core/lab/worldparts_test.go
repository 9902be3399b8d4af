package lab

import (
	"fmt"
	"io"
	"math"

	"pgrlab/core/agent"
	"pgrlab/core/generative"
	"pgrlab/core/replay"
)

type worldAgent struct {
	w       *world
	seed    uint64
	updates int
	batches map[int]*replay.Batch
	made    []agent.UpdateResult
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
		Actor: math.NaN(), Alpha: math.NaN(), AlphaValue: 1, Entropy: math.NaN(), Noise: math.NaN(),
	}
	if last {
		l.Actor = blend(l.Critic, live.LRActor)
	}
	return l, last, a.w.call("update")
}

func (a *worldAgent) UpdateN(n int, from agent.BatchSource, live agent.Rates, last bool) ([]agent.UpdateResult, error) {
	a.made = a.made[:0]
	for i := range n {
		b, err := a.Batch(from.Mix.Size())
		if err != nil {
			return nil, err
		}
		if err := from.Mixer.Sample(b, from.Mix, from.Real, from.Synthetic, from.First+uint64(i)); err != nil {
			return nil, err
		}
		losses, stepped, err := a.Update(b.Size, live, last && i == n-1)
		a.made = append(a.made, agent.UpdateResult{Losses: losses, Stepped: stepped, Err: err})
	}
	return a.made, nil
}

func (a *worldAgent) Fused() bool    { return false }
func (a *worldAgent) StateSize() int { return 0 }

func (a *worldAgent) Act(x *agent.Acting) error {
	if x.Mode == agent.Explore {
		for i := range x.Copies {
			x.Actions[i] = float32(blend(blend32(x.Obs[i*worldObs:(i+1)*worldObs]), float64(x.Step), float64(a.updates)))
		}
		return a.w.call("act")
	}
	for i := range x.Copies {
		x.Actions[i] = x.Obs[i*worldObs]
	}
	return a.w.call("act mean %d", x.Copies)
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

func (a *worldAgent) Activations(seen agent.Looks) ([]agent.Layer, error) {
	obs, rows := seen.Numbers, seen.Rows
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
func (a *worldAgent) LoadPolicy(io.Reader) error { return nil }
func (a *worldAgent) Close() error               { return nil }
func (a *worldAgent) Save(w io.Writer) error     { return keep(w, float64(a.updates)) }
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

// worldGenerator needs as many calls for a generation as there are sampler steps, and returns all
// transitions with the last one.
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
		for i := range g.knobs.Samples * g.w.shape().Width() {
			rows = append(rows, float32(blend(g.seed, float64(i))))
		}
	}
	return rows, g.calls, g.knobs.Steps, g.w.call("generate %d", g.calls)
}

// PromptScores returns scores that the world's generations never obey.
func (g *worldGenerator) PromptScores(k generative.GenKnobs, occasion uint64, n int) []float32 {
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
	quiet.rows = g.w.rows
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
