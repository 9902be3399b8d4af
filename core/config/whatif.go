package config

import (
	"fmt"

	"pgrlab/core/agent"
)

// CheckWhatIf returns why a checkpoint of the run cannot be trained further with other rows (see
// package whatif), or nil.
func (c *Config) CheckWhatIf() error {
	learner, _ := c.Agent.Spec() // Validate has looked at it
	switch {
	case !c.Generates():
		return fmt.Errorf("its method %s has no generator: want a run of one that has, as %s", c.Method, MethodSynthER)
	case c.Bonus.Given() && c.Knobs.Bonus != 0:
		return fmt.Errorf("its agent learns from a bonus on the reward, whose value nothing here measures: want a run without one")
	case c.Fills() || !learner.Batches:
		return fmt.Errorf("its learner %s does not learn from batches of the environment's transitions: want a run of one that does, as %s", learner.Name, agent.DefaultLearner)
	case c.Data.Pinned() && c.Knobs.Prior != 0:
		return fmt.Errorf("its agent draws a share of its real rows from pinned data, which nothing here reads: want a run without, or one whose knob prior is 0")
	case c.Replay.Prioritized():
		return fmt.Errorf("its agent draws real rows by priority: want a run that draws all alike")
	}
	return nil
}

// CheckGround returns why single updates of the run's agent cannot be tried (see package ground), or
// nil.
func (c *Config) CheckGround() error {
	learner, _ := c.Agent.Spec() // Validate has looked at it
	switch {
	case c.Dreams():
		return fmt.Errorf("ground: this run has no agent: want a run of one, as %s", MethodSynthER)
	case c.Fills() || !learner.Batches:
		return fmt.Errorf("ground: the learner %s makes no single update on a batch of the environment's transitions: want a run of one that does, as %s", learner.Name, agent.DefaultLearner)
	case c.Evaluation.Every == 0:
		return fmt.Errorf("ground: the run is not evaluated: want evaluation.every above 0")
	case c.Members > 1:
		return fmt.Errorf("ground: the run trains %d seeds, and a return would be of one of them: want --members 1", c.Members)
	case c.Bonus.Given() || learner.Explores:
		return fmt.Errorf("ground: its agent learns from F in place of the reward or beside it: want a run without")
	case c.Replay.Prioritized():
		return fmt.Errorf("ground: its agent draws real rows by priority, which an update changes: want a run that draws all alike")
	}
	return nil
}
