package lab

import (
	"errors"
	"fmt"

	"pgrlab/core/event"
)

// errAgain: an environment has failed, training waits, and what could not be done is
// tried again, or left out, when somebody resumes.
var errAgain = errors.New("the environment has failed")

// failedEnv takes an error of a copy of a member's environment that is more than a lost
// episode. The episode ends here; the environment is made anew, for nothing is known
// of its state; training waits before the env step, which is made again in the next
// episode when somebody resumes.
func (x *experiment) failedEnv(m *member, i int, err error) error {
	x.emitFailure(m, "simulate", err)
	fresh, made := x.task.New(m.seed)
	if made != nil {
		m.envs[i].failed = fmt.Errorf("start %s anew: %w", x.config.Task, made) // and again at the next try
		return errAgain
	}
	m.envs[i].env = fresh
	m.replace(envName(i), fresh)
	x.endEpisode(m, i)
	return errAgain
}

// failedEvaluation takes an error of the environments of evaluation. They are made anew,
// and the evaluation is given up: its lines are missing.
func (x *experiment) failedEvaluation(m *member, err error) error {
	x.emitFailure(m, "evaluate", err)
	for _, other := range x.members {
		other.evaluation = nil
	}
	if fresh, made := x.task.NewVec(x.config.Evaluation.Episodes, evaluationSeed(m.seed)); made == nil {
		m.evalEnv = fresh
		m.replace("judge", fresh)
	} // else the next evaluation fails as this one did
	return nil
}

// emitFailure writes the line and makes training wait.
func (x *experiment) emitFailure(m *member, doing string, err error) {
	obs := x.checkpoints.keepLast()
	x.emit(event.TypeDiverged, m.index, event.Diverged{Doing: doing, Position: x.position, Error: err.Error(), Obs: obs})
	x.gate.fault(faultSimulation, fmt.Sprintf("step %d: %s: %v%s", x.Step, doing, err, wayBack(obs)))
}
