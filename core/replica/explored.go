package replica

import (
	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/core/task"
)

// exploredIn returns how the episode of an environment went; nil if the environment does not
// say.
func exploredIn(env task.Env) *event.Explored {
	e, says := env.(task.Explored)
	if !says {
		return nil
	}
	goals, cells, moved, onSpot := e.Exploration()
	share := run.Float(onSpot)
	return &event.Explored{Goals: run.Float(goals), Cells: run.Float(cells), Moved: run.Float(moved), OnSpot: &share}
}

// exploredBy returns how the episodes of an evaluation went, on average; nil if the environments
// do not say.
func exploredBy(env task.VecEnv) *event.Explored {
	e, says := env.(task.ExploredVec)
	if !says {
		return nil
	}
	sum, of := event.Explored{OnSpot: new(run.Float)}, run.Float(env.Size())
	for i := range env.Size() {
		goals, cells, moved, onSpot := e.ExplorationOf(i)
		sum.Goals += run.Float(goals) / of
		sum.Cells += run.Float(cells) / of
		sum.Moved += run.Float(moved) / of
		*sum.OnSpot += run.Float(onSpot) / of
	}
	return &sum
}
