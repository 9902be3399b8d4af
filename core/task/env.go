package task

import "io"

// Env is one environment. Actions are in [-1,1]. Its methods use built-in types only, so that a
// package of environments need not know this one. It belongs to one goroutine.
type Env interface {
	ObsSize() int
	ActSize() int
	// Reset starts an episode and writes its first observation [ObsSize]. The
	// start is a function of the environment's seed and the episode alone.
	Reset(episode uint64, obs []float32) error
	// Step applies an action [ActSize] and writes the observation that follows.
	// terminated is a true end, truncated a time limit: after either the episode
	// is over, but only the first one has no future. An error with a method
	// EpisodeLost that returns true ends the episode and no more.
	Step(action, obs []float32) (reward float64, terminated, truncated bool, err error)
	// Save and Load keep the state in the middle of an episode. Load leaves the environment its
	// own seed, from which later episodes start.
	Save(w io.Writer) error
	Load(r io.Reader) error
	Close() error
}

// Posed is an Env that can say how its body lies, for a picture of it.
type Posed interface {
	// Pose appends the present pose to dst. What the numbers mean is between the
	// environment and what draws it. It changes nothing.
	Pose(dst []float64) []float64
}

// Bounded is an Env whose own controls have other bounds than actions have, or may have.
type Bounded interface {
	// Bounds are the controls [ActSize] that actions of -1 and of 1 stand for.
	Bounds() (low, high []float64)
}

// Placed is an Env whose agent is somewhere on a plane, which pictures show from above.
type Placed interface {
	// Place is where the agent is, in the environment's own units, in which the ground of its
	// picture is measured. It changes nothing.
	Place() (x, y float64)
}

// Respawning is an Env that may put the agent elsewhere within an episode, as a maze does at its
// goal. Step then writes the observation from where the agent was put: no action leads there.
type Respawning interface {
	// Respawned says whether the last Step put the agent elsewhere.
	Respawned() bool
}

// VecEnv steps Size() copies of an environment in lockstep, for evaluation.
type VecEnv interface {
	Size() int
	ObsSize() int
	ActSize() int
	// Reset starts copy i in episode·Size()+i; obs is [Size, ObsSize].
	Reset(episode uint64, obs []float32) error
	// Step applies actions [Size, ActSize] and writes observations, rewards
	// [Size] and whether each copy's episode is over [Size]. A copy whose episode
	// is over stays as it is and earns nothing; so does one whose episode is lost.
	Step(actions, obs []float32, rewards []float64, ended []bool) error
	// Save and Load are those of every copy.
	Save(w io.Writer) error
	Load(r io.Reader) error
	Close() error
}

// Explored is an Env that can say how an episode goes apart from its rewards: how much the agent
// explores.
type Explored interface {
	// Exploration describes the episode so far: the goals that were reached, the cells that were
	// entered, how far the agent moved relative to what the highest speed allows, and the share
	// of its actions that only turned it or did not change where it is; NaN: unknown.
	Exploration() (goals, cells int, moved, onSpot float64)
}

// ExploredVec is a VecEnv that can say the same of each copy.
type ExploredVec interface {
	ExplorationOf(copy int) (goals, cells int, moved, onSpot float64)
}

// Televised is an Env or a VecEnv with a TV that can be switched. The TV covers a part of what
// is seen and is one of Task.TVs. A switch is in force from the next step or reset on, and saved
// with the state.
type Televised interface {
	Televise(tv string) error
}
