package envs

import "fmt"

// With returns the task played with action repeat: each Step makes repeat control steps with its action, up
// to the end of the episode, and sums their rewards; 0 means 1. An episode has the same number of control
// steps as without it, and so fewer Steps.
func (t Task) With(repeat int) (Task, error) {
	if repeat < 0 || repeat > t.length {
		return t, fmt.Errorf("%s: action repeat of %d: want 1 to %d", t.Name, repeat, t.length)
	}
	t.repeat = repeat
	t.EpisodeSteps = (t.length + t.repeats() - 1) / t.repeats()
	return t, nil
}

// repeats is the number of control steps in a Step.
func (t *Task) repeats() int { return max(t.repeat, 1) }
