package outside

import (
	"fmt"
)

// Task is what a program simulates, as a run plays it.
type Task struct {
	Name         string
	ObsSize      int
	ActSize      int
	Choices      int // actions to choose from; 0: actions are numbers in [-1,1]
	EpisodeSteps int // env steps until an episode is truncated
	Terminates   bool
	Names        []string // of the numbers of an observation; nil: unknown

	program   *Program
	low, high []float64
	limit     int // control steps of an episode
	repeat    int // control steps of an env step
}

// Task is the task that the program simulates; it must have been met, or expected.
func (p *Program) Task() *Task {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.spec
	t := &Task{Name: p.Name, ObsSize: s.Obs, ActSize: s.Act, Choices: s.Choices, Terminates: s.Terminates, Names: s.Names, low: s.Low, high: s.High, program: p, limit: s.Limit, repeat: 1}
	if s.Choices > 0 {
		t.ActSize = s.Choices
	}
	if p.options.EpisodeSteps > 0 {
		t.limit = p.options.EpisodeSteps
	}
	if t.limit == 0 {
		t.limit = defaultSteps
	}
	t.EpisodeSteps = t.limit
	return t
}

// Started says how its program was started.
func (t *Task) Started() Started { return t.program.Started() }

// With returns the task with a number of control steps in each env step.
func (t *Task) With(repeat int) (*Task, error) {
	if repeat < 0 || repeat > t.limit {
		return nil, fmt.Errorf("%s: action repeat of %d: want 1 to %d", t.Name, repeat, t.limit)
	}
	played := *t
	played.repeat = max(1, repeat)
	played.EpisodeSteps = (t.limit + played.repeat - 1) / played.repeat
	return &played, nil
}

// own appends an action in the environment's own bounds.
func (t *Task) own(dst, action []float32) []float32 {
	if t.Choices > 0 {
		chosen := 0
		for i, x := range action {
			if x > action[chosen] {
				chosen = i
			}
		}
		return append(dst, float32(chosen))
	}
	for i, a := range action {
		x := min(max(float64(a), -1), 1)
		dst = append(dst, float32(t.low[i]+(t.high[i]-t.low[i])*(x+1)/2))
	}
	return dst
}
