package replica

import (
	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/core/task"
)

// exploredIn is how the episode of an environment went; nil where it does not say.
func exploredIn(env task.Env) *event.Explored {
	e, says := env.(task.Explored)
	if !says {
		return nil
	}
	goals, cells, moved := e.Exploration()
	return &event.Explored{Goals: run.Float(goals), Cells: run.Float(cells), Moved: run.Float(moved)}
}

// exploredBy is how the episodes of an evaluation went, in the mean; nil where they do not say.
func exploredBy(env task.VecEnv) *event.Explored {
	e, says := env.(task.ExploredVec)
	if !says {
		return nil
	}
	sum, of := event.Explored{}, run.Float(env.Size())
	for i := range env.Size() {
		goals, cells, moved := e.ExplorationOf(i)
		sum.Goals += run.Float(goals) / of
		sum.Cells += run.Float(cells) / of
		sum.Moved += run.Float(moved) / of
	}
	return &sum
}
