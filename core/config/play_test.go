package config

import (
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/task"
)

func init() {
	for _, name := range []string{"chooser", "mover"} {
		agent.Register(agent.Spec{Name: name, Doc: "of this test", Discrete: name == "chooser", New: func(agent.Deps) (*agent.Made, error) { return nil, nil }})
	}
}

// A learner that chooses among actions can play a task of choices, and no other learner can.
func TestWhoCanPlayATask(t *testing.T) {
	for learner, chooses := range map[string]bool{"chooser": true, "mover": false} {
		for _, discrete := range []bool{true, false} {
			c := Config{Method: "m", Agent: agent.Config{Learner: learner}}
			err := c.CanPlay(task.Task{Name: "t", ActSize: 3, Discrete: discrete})
			if fits := chooses == discrete; fits != (err == nil) || !fits && !strings.Contains(err.Error(), "learner "+learner+" of method m ") {
				t.Errorf("%s in a task with choices %v: %v", learner, discrete, err)
			}
		}
	}
}

// A learner that does not exist is named, and not what a task of choices asks of another one.
func TestAMisspeltLearnerIsNamed(t *testing.T) {
	c := Config{Method: "m", Agent: agent.Config{Learner: "choser"}}
	if err := c.CanPlay(task.Task{Name: "t", Discrete: true}); err == nil || !strings.Contains(err.Error(), `agent.learner is "choser"; did you mean "chooser"?`) {
		t.Errorf("%v", err)
	}
}
