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
	case c.Replay.Prioritized():
		return fmt.Errorf("its agent draws real rows by priority: want a run that draws all alike")
	}
	return nil
}
