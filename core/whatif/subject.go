package whatif

import (
	"pgrlab/core/agent"
	"pgrlab/core/analysis"
	"pgrlab/core/generative"
	"pgrlab/core/replay"
)

// Subject is a run at a checkpoint: what it has, and how more of it is made. Run
// changes none of it.
type Subject struct {
	Real  *replay.Ring
	Gamma float64
	Rates agent.Rates
	UTD   int // updates of an env step: the policy steps with its last
	// Mix splits a batch where so many synthetic rows are there.
	Mix func(available int) replay.Mix

	// Learner makes an agent that is what the checkpoint's was, with random numbers of
	// its own. It is closed after use.
	Learner func(seed uint64) (Learner, error)
	// Generator is one that is fitted to Real with a relevance function, or without for
	// "none"; release is called after use. breathe is called between pieces of the work,
	// of which a share is done.
	Generator func(relevance string, breathe func(share float64) error) (g Generator, release func(), err error)
	// FitCost is about what Generator takes, in critic updates.
	FitCost func(relevance string) int
	// Score writes F of the run of all rows to dst; nil: it has none.
	Score func(dst []float32, rows *replay.Ring) error

	EpisodeSteps int
	Episodes     func(n int, seed uint64) (VecEnv, error) // n copies in lockstep
	// Simulator is the task as it can be set to states; close is called after use. The
	// error says why it cannot.
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

// VecEnv steps copies of an environment in lockstep. A copy whose episode is over stays
// as it is and earns nothing.
type VecEnv interface {
	Size() int
	ObsSize() int
	ActSize() int
	Reset(episode uint64, obs []float32) error
	Step(actions, obs []float32, rewards []float64, ended []bool) error
	Close() error
}
