package config

import (
	"fmt"

	"pgrlab/core/knob"
	"pgrlab/core/task"
)

// KnowsEnds says whether it is known where an episode of the task ends, if the run rolls out a model of the
// dynamics: by the task's rule, or only by time. A rollout that went on past the end of an episode would teach the
// agent that nothing is lost there. It is asked before a run.
func (c *Config) KnowsEnds(t task.Task) error {
	if c.Has()&knob.UseRollouts == 0 || !t.Terminates || t.Ends != nil {
		return nil
	}
	do := "choose another task, or a method without a model of the dynamics"
	switch {
	case t.Own != nil:
		do = "terminate asks for what is not observed as it is: add that to observe"
	case t.Program != nil:
		do = fmt.Sprintf("say it with a condition, as --set environment.outside.ends='next[0] < 0.5', or that only time ends them, with --set environment.outside.ends=%s", task.NeverEnds)
	}
	return fmt.Errorf("configuration: episodes of %s can end by themselves, and rollouts of method %s have to know where: %s", t.Name, c.Method, do)
}
