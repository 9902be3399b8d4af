package whatif

import (
	"pgrlab/core/agent"
	"pgrlab/core/analysis"
	"pgrlab/core/generative"
	"pgrlab/core/replay"
)

// Subject is a run at a checkpoint: what it has, and functions that make more from it. Run does not
// change it.
type Subject struct {
	Real  *replay.Ring
	Gamma float64
	Rates agent.Rates
	UTD   int // updates per env step: the policy steps with the last of them
	// Mix splits a batch if that many synthetic rows are available.
	Mix func(available int) replay.Mix

	// Learner makes an agent in the state of the checkpoint's, with random numbers of its own. It
	// is closed after use.
	Learner func(seed uint64) (Learner, error)
	// Generator returns a generator that is fitted to Real with a relevance function, or without
	// one for "none"; release is called after use. breathe is called between pieces of work with
	// the share that is done.
	Generator func(relevance string, breathe func(share float64) error) (g Generator, release func(), err error)
	// FitCost estimates what Generator takes, in critic updates.
	FitCost func(relevance string) int
	// Score writes the run's F of all rows to dst; nil: the run has no F.
	Score func(dst []float32, rows *replay.Ring) error

	EpisodeSteps int
	Episodes     func(n int, seed uint64) (VecEnv, error) // n copies in lockstep
	// Simulator returns the task in a form that can be set to states; close is called after use.
	// The error says why the task cannot be set.
	Simulator func() (s analysis.Simulator, close func() error, err error)
}

// Learner is an agent; sac.Agent is one.
type Learner interface {
	Batch(size int) (*replay.Batch, error)
	Update(size int, live agent.Rates, last bool) (losses agent.Losses, acted bool, err error)
	Act(a *agent.Acting) error
	Sample(dst, logp, obs []float32, rows int, occasion uint64) error
	Value(dst, obs, act []float32, rows int) error
	Alpha() float64
	Close() error
}

// Generator makes transitions; generative.Diffusion is one.
type Generator interface {
	StartGenerate(knobs generative.GenKnobs, occasion uint64) error
	GenerateSlice() (rows []float32, done, total int, err error)
}

// VecEnv steps copies of an environment in lockstep. A copy whose episode is over stays as it is
// and gets no reward.
type VecEnv interface {
	Size() int
	ObsSize() int
	ActSize() int
	Reset(episode uint64, obs []float32) error
	Step(actions, obs []float32, rewards []float64, ended []bool) error
	Close() error
}

// truncating is a VecEnv that reports which of its episodes were cut off before EpisodeSteps.
type truncating interface{ Truncated(copy int) bool }
