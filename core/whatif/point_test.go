package whatif

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/agent/sac"
	"pgrlab/core/analysis"
	"pgrlab/core/device/cpu"
	"pgrlab/core/generative"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/cputest"
)

// point is a task on a line: an action moves the point by a quarter of itself, and the reward falls
// with the distance from 0.
type point struct {
	x    []float32
	step int
}

const pointSteps = 60

var pointShape = replay.Shape{Obs: 1, Act: 1}

func move(x, a float32) (next float32, reward float64) {
	next = min(max(x+a/4, -1), 1)
	return next, 1 - math.Abs(float64(next))
}

func (p *point) Size() int    { return len(p.x) }
func (p *point) ObsSize() int { return 1 }
func (p *point) ActSize() int { return 1 }
func (p *point) Close() error { return nil }
func (p *point) Reset(episode uint64, obs []float32) error {
	rng.New(9, "starts").FillUniform(p.x, episode, 0)
	p.step = 0
	copy(obs, p.x)
	return nil
}

func (p *point) Step(actions, obs []float32, rewards []float64, ended []bool) error {
	p.step++
	for i, a := range actions[:len(p.x)] {
		p.x[i], rewards[i] = move(p.x[i], a)
		ended[i] = p.step == pointSteps
	}
	copy(obs, p.x)
	return nil
}

// placed is the same task in a form that can be set to a state.
type placed struct{ x float32 }

func (p *placed) Place(obs []float32) error { p.x = obs[0]; return nil }
func (p *placed) Step(action, obs []float32) (float64, bool, bool, error) {
	next, reward := move(p.x, action[0])
	obs[0] = next
	return reward, false, false, nil
}

// teller "generates" real rows, drawn for each generation, with rewards changed by spoil.
type teller struct {
	real     *replay.Ring
	spoil    func(reward []float32)
	knobs    generative.GenKnobs
	occasion uint64
}

func (g *teller) StartGenerate(k generative.GenKnobs, occasion uint64) error {
	g.knobs, g.occasion = k, occasion
	return nil
}

func (g *teller) GenerateSlice() (rows []float32, done, total int, err error) {
	draw, width := rng.New(4, "choice").At(g.occasion), pointShape.Width()
	rewards := make([]float32, g.knobs.Samples)
	for i := range rewards {
		rows = append(rows, g.real.Row(draw.IntN(g.real.Len()))...)
		rewards[i] = rows[i*width+2]
	}
	g.spoil(rewards)
	for i, r := range rewards {
		rows[i*width+2] = r
	}
	return rows, 1, 1, nil
}

// reversed reassigns the rewards to other rows.
func reversed(rewards []float32) { slices.Sort(rewards) }

func asTheyAre([]float32) {}

var pointConfig, pointRates = func() sac.Config {
	c := sac.DefaultConfig(1, 1)
	c.Hidden, c.Gamma, c.PolicyDelay = []int{16, 16}, 0.9, 5
	return c
}(), agent.Rates{LRActor: 1e-3, LRCritic: 1e-3, Tau: 0.02}

// learned returns random transitions, and the saved state of an agent that has learned from them
// for a while.
var learned = sync.OnceValues(func() (*replay.Ring, []byte) {
	dev, err := cpu.New(cpu.Options{Threads: 1, Family: "go"})
	if err != nil {
		panic(err)
	}
	defer dev.Close()
	real := replay.NewRing(pointShape, 2000)
	draw := rng.New(3, "real").At(0)
	for range real.Cap() {
		x, a := float32(2*draw.Float64()-1), float32(2*draw.Float64()-1)
		next, reward := move(x, a)
		real.Add(replay.Transition{Obs: []float32{x}, Act: []float32{a}, Reward: float32(reward), Next: []float32{next}})
	}
	first, err := sac.New(pointConfig, dev, 1)
	if err != nil {
		panic(err)
	}
	defer first.Close()
	var saved bytes.Buffer
	if err := errors.Join(trainOn(first, real, pointRates, replay.NewMixer(rng.New(1, "before")), 1500), first.Save(&saved)); err != nil {
		panic(err)
	}
	return real, saved.Bytes()
})

// subject is the agent that has learned a little, with its task. Its generators return true rows,
// except the one with relevance "reward".
func subject(t *testing.T) Subject {
	t.Helper()
	dev := cputest.New(t, cpu.Options{Threads: 1, Family: "go"})
	real, saved := learned()
	return Subject{
		Real: real, Gamma: pointConfig.Gamma, Rates: pointRates, UTD: 5,
		Mix: func(available int) replay.Mix { return replay.HoldBatch(64, 0.5, available) },
		Learner: func(seed uint64) (Learner, error) {
			l, err := sac.New(pointConfig, dev, seed)
			if err != nil {
				return nil, err
			}
			return l, l.Load(bytes.NewReader(saved))
		},
		Generator: func(relevance string, breathe func(float64) error) (Generator, func(), error) {
			g := &teller{real: real, spoil: asTheyAre}
			if relevance == "reward" {
				g.spoil = reversed
			}
			return g, func() {}, breathe(0.5)
		},
		FitCost:      func(string) int { return 10 },
		EpisodeSteps: pointSteps,
		Episodes:     func(n int, seed uint64) (VecEnv, error) { return &point{x: make([]float32, n)}, nil },
		Simulator: func() (analysis.Simulator, func() error, error) {
			return &placed{}, func() error { return nil }, nil
		},
	}
}

// trainOn makes updates of 64 real rows, like a run.
func trainOn(l Learner, real *replay.Ring, rates agent.Rates, m replay.Mixer, updates int) error {
	b, err := l.Batch(64)
	if err != nil {
		return err
	}
	for i := range updates {
		if err := m.Sample(b, replay.Mix{Real: 64}, real, nil, uint64(i)); err != nil {
			return err
		}
		if _, _, err := l.Update(64, rates, i%5 == 4 || i == updates-1); err != nil {
			return err
		}
	}
	return nil
}

func pointPlan() Plan {
	return Plan{
		Relevance: []string{"reward"}, Guidance: []float64{2}, TopFraction: []float64{0.25},
		Sampling: generative.GenKnobs{Samples: 500, Steps: 3, Guidance: 2, TopFraction: 0.25},
		Updates:  300, Episodes: 4, Repeats: 3, Seed: 5,
	}
}

var errStop = errors.New("stop")
