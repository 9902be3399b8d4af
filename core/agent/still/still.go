// Package still is the learner of runs on data alone: it neither acts nor learns, because no environment
// is stepped. Such a run does lines 3, 5 and 6 of Algorithm 1 of Wang et al. (ICLR 2025) only: it scores
// recorded transitions, fits a generator to them and generates.
package still

import (
	"io"

	"pgrlab/core/agent"
)

func init() {
	agent.Register(agent.Spec{
		Name: agent.None, Doc: "no agent: a generator is fitted to recorded transitions, as pgrlab dream does",
		Source: "lines 3, 5 and 6 of Algorithm 1 of Wang et al. 2025",
		Idle:   true, Synthetic: true,
		New: func(agent.Deps) (*agent.Made, error) { return &agent.Made{Learner: learner{}}, nil },
	})
}

type learner struct{}

// Act leaves the actions at zero: it is asked for them by rollouts alone, which no configuration of this
// learner has.
func (learner) Act(a *agent.Acting) error {
	clear(a.Actions)
	return nil
}

func (learner) StateSize() int                                 { return 0 }
func (learner) Activations(agent.Looks) ([]agent.Layer, error) { return nil, nil }
func (learner) Save(io.Writer) error                           { return nil }
func (learner) Load(io.Reader) error                           { return nil }
func (learner) SavePolicy(io.Writer) error                     { return nil }
func (learner) LoadPolicy(io.Reader) error                     { return nil }
func (learner) Close() error                                   { return nil }
