// Package tiny defines a run for tests that uses the real parts and takes milliseconds: a task
// with two observed numbers and one action, and a configuration with the smallest possible
// networks.
package tiny

import (
	"encoding/binary"
	"io"
	"math"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/agent/drqv2"
	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/task"
	"pgrlab/core/testing/cputest"
)

// The sizes of Task.
const (
	Obs     = 2
	Act     = 1
	Episode = 60
)

// Config returns a run of Task with all parts of prioritized generative replay at their smallest:
// 8 random steps, a refit every 12 steps, an evaluation every 13, 26 steps in all.
func Config() config.Config {
	icm, rnd := relevance.DefaultICM(), relevance.DefaultRND()
	icm.Cadence, icm.Hidden, icm.Batch, icm.ScoreRows = relevance.Cadence{Every: 4, Warmup: 3}, 8, 8, 16
	rnd.Cadence, rnd.Hidden, rnd.Features, rnd.Batch, rnd.ScoreRows = relevance.Cadence{Every: 4, Warmup: 5}, 8, 4, 8, 16
	disagreement := relevance.DisagreementConfig{Cadence: relevance.Cadence{Every: 4, Warmup: 4}, Members: 2, Hidden: 4, Batch: 8, LR: 1e-3}
	c := config.Config{
		Task: "world", Method: "pgr-curiosity", Scale: "test", Device: "cpu", Seed: 7, Members: 1,
		Steps: 26, StartSteps: 8, Buffer: 1000,
		Evaluation: config.Evaluation{Every: 13, Episodes: 3, DormantStates: 8},
		Agent:      agent.Config{Hidden: []int{8, 8}, Critics: 2, Subset: 2, Gamma: 0.99, PolicyDelay: 20, InitialAlpha: 1},
		Replay:     config.Replay{Priority: config.FunctionNone},
		Bonus:      config.Bonus{Function: config.FunctionNone},
		Relevance:  relevance.Configs{"curiosity": icm, "rnd": rnd, "disagreement": disagreement},
		Generator:  config.Generator{Kind: "diffusion", Slice: 2, Config: generative.Default()},
		Knobs: knob.Settings{
			Relevance: "curiosity", Guidance: 2, TopFraction: 0.25, Ratio: 0.5, Hold: knob.HoldBatch, UTD: 4, Batch: 8,
			LRActor: 3e-4, LRCritic: 3e-4, Tau: 0.005, RefitEvery: 12, Samples: 24, SamplerSteps: 3,
			GeneratorSteps: 12, LRGenerator: 3e-4, PUncond: 0.25,
		},
	}
	g := &c.Generator
	g.Kinds = generative.Kinds{
		"vae":      generative.VAEConfig{Latent: 2, Width: 8, Bottleneck: 4, EncoderBlocks: 1, DecoderBlocks: 1, Beta: 0.1},
		"ensemble": generative.EnsembleConfig{Members: 3, Elites: 2, Width: 8, Layers: 1, Patience: 1, Target: generative.TargetDelta, TargetScale: generative.ScaleRaw},
	}
	g.Conditional, g.Width, g.Blocks, g.Embedding, g.Batch, g.Chunk = true, 16, 1, 8, 8, 16
	return c
}

// Pixels returns a run of DrQ-v2 on Task: 26 env steps, of which the first 8 are random, an
// update in two parts at every second one of the others, and an evaluation every 13 steps.
func Pixels() config.Config {
	c := sighted(Config())
	c.Method, c.Generator.Kind, c.Generator.Conditional = "drqv2", config.GeneratorNone, false
	c.Knobs.Relevance, c.Knobs.Ratio = relevance.None, 0
	return c
}

// Latents is Config in the latent space of DrQ-v2: it learns from frames as Pixels does, and
// from synthetic rows after the first of its two refits.
func Latents() config.Config {
	c := sighted(Config())
	own := c.Agent.Own["drqv2"].(drqv2.Settings)
	own.Slice = 2 // half, because only half of the rows are real
	c.Agent.Own["drqv2"] = own
	return c
}

// sighted returns c with a learner of frames.
func sighted(c config.Config) config.Config {
	c.Agent.Learner, c.Pixels = "drqv2", agent.Pixels{Side: 9, Stack: 3, Pad: 1, Channels: 3, Strides: []int{2, 1}, Feature: 4}
	own := drqv2.DefaultSettings
	own.NoiseSteps, own.Slice = 40, 4
	c.Agent.Own = agent.Own{"drqv2": own}
	return c
}

// Device returns a CPU with one thread and this machine's kernels, which is closed when the test
// ends.
func Device(t testing.TB) device.Device {
	t.Helper()
	return cputest.New(t, cpu.Options{Threads: 1})
}

// Task returns a task whose observations depend on everything that was done before.
func Task() task.Task {
	return task.Task{
		Name: "world", ObsSize: Obs, ActSize: Act, EpisodeSteps: Episode, Seen: true,
		New: func(seed uint64) (task.Env, error) { return newEnv(seed, 0), nil },
		NewVec: func(n int, seed uint64) (task.VecEnv, error) {
			v := &vec{envs: make([]env, n)}
			for i := range v.envs {
				v.envs[i] = *newEnv(seed, i)
			}
			return v, nil
		},
	}
}

// env is one copy. Seed is its own, of that of the episode under way.
type env struct{ seed, of, episode, t, x float64 }

func newEnv(seed uint64, copy int) *env {
	own := float64(seed%997) + float64(copy)
	return &env{seed: own, of: own}
}

func (e *env) ObsSize() int { return Obs }
func (e *env) ActSize() int { return Act }

func (e *env) Reset(episode uint64, obs []float32) error {
	e.of, e.episode, e.t, e.x = e.seed, float64(episode), 0, 0
	e.observe(obs, 0)
	return nil
}

func (e *env) Step(action, obs []float32) (reward float64, terminated, truncated bool, err error) {
	e.t++
	e.observe(obs, float64(action[0]))
	return float64(obs[0]), false, e.t == Episode, nil
}

// Place sets e to the state that an observation shows.
func (e *env) Place(obs []float32) error {
	e.x, e.t = float64(obs[0]), math.Round(float64(obs[1])*Episode)
	return nil
}

// observe moves to the next state.
func (e *env) observe(obs []float32, action float64) {
	_, e.x = math.Modf(math.Abs(0.37*e.x + 0.731*e.of + 0.411*e.episode + 0.11*e.t + 0.53*action))
	obs[0], obs[1] = float32(e.x), float32(e.t)/Episode
}

// Frame draws the state as stripes.
func (e *env) Frame(dst []byte, side int) error {
	for i := range dst {
		_, shade := math.Modf(e.x + float64(i%(3*side))/float64(3*side) + 0.1*e.t)
		dst[i] = byte(255 * shade)
	}
	return nil
}

func (e *env) Save(w io.Writer) error {
	return binary.Write(w, binary.LittleEndian, []float64{e.of, e.episode, e.t, e.x})
}

func (e *env) Load(r io.Reader) error {
	v := make([]float64, 4)
	err := binary.Read(r, binary.LittleEndian, v)
	e.of, e.episode, e.t, e.x = v[0], v[1], v[2], v[3]
	return err
}

func (e *env) Close() error { return nil }

// vec holds copies in lockstep. Copy i ends after 10·(i+1) steps.
type vec struct{ envs []env }

func (v *vec) Size() int    { return len(v.envs) }
func (v *vec) ObsSize() int { return Obs }
func (v *vec) ActSize() int { return Act }

func (v *vec) Reset(episode uint64, obs []float32) error {
	for i := range v.envs {
		if err := v.envs[i].Reset(episode, obs[i*Obs:]); err != nil {
			return err
		}
	}
	return nil
}

func (v *vec) Step(actions, obs []float32, rewards []float64, ended []bool) error {
	for i := range v.envs {
		if rewards[i] = 0; ended[i] {
			continue
		}
		var err error
		if rewards[i], _, _, err = v.envs[i].Step(actions[i*Act:], obs[i*Obs:]); err != nil {
			return err
		}
		ended[i] = int(v.envs[i].t) == 10*(i+1)
	}
	return nil
}

// Frames draws the frames of all copies.
func (v *vec) Frames(dst []byte, side int) error {
	for i := range v.envs {
		if err := v.envs[i].Frame(dst[i*3*side*side:(i+1)*3*side*side], side); err != nil {
			return err
		}
	}
	return nil
}

func (v *vec) Save(w io.Writer) error {
	for i := range v.envs {
		if err := v.envs[i].Save(w); err != nil {
			return err
		}
	}
	return nil
}

func (v *vec) Load(r io.Reader) error {
	for i := range v.envs {
		if err := v.envs[i].Load(r); err != nil {
			return err
		}
	}
	return nil
}

func (v *vec) Close() error { return nil }
