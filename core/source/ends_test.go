package source

import (
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/task"
)

// counting observes the steps of its episode, and ends one by itself after three.
type counting struct {
	task.Env
	steps int
}

func (c *counting) ObsSize() int { return 1 }
func (c *counting) ActSize() int { return 1 }
func (c *counting) Close() error { return nil }

func (c *counting) Reset(_ uint64, obs []float32) error {
	c.steps, obs[0] = 0, 0
	return nil
}

func (c *counting) Step(_, obs []float32) (reward float64, terminated, truncated bool, err error) {
	c.steps++
	obs[0] = float32(c.steps)
	return 0, c.steps == 3, false, nil
}

// notes is a host that keeps the notes.
type notes []string

func (n *notes) Emit(_ string, body any) {
	if said, is := body.(event.Noted); is {
		*n = append(*n, said.Text)
	}
}
func (n *notes) Fault(string, error) {}

// A rule of where episodes of another program's task end is compared with the ends of that program; each kind of
// disagreement is a note, once a run. Tests hold the rules of the program's own tasks.
func TestEndsAreComparedWithTheRule(t *testing.T) {
	program := func() any { return nil }
	after := func(n float32) func(obs, act, next []float32) bool {
		return func(_, _, next []float32) bool { return next[0] >= n }
	}
	for _, c := range []struct {
		name string
		task task.Task
		want []string
	}{
		{"right", task.Task{Program: program, Terminates: true, Ends: after(3)}, nil},
		{"late", task.Task{Program: program, Terminates: true, Ends: after(4)}, []string{"step 3 of episode 1 of late ended it"}},
		{"early", task.Task{Program: program, Terminates: true, Ends: after(2)}, []string{"step 2 of episode 1 of early did not end it"}},
		{"never", task.Task{Program: program}, []string{"step 3 of episode 1 of never ended it"}},
		{"unknown", task.Task{Program: program, Terminates: true}, nil},
		{"by time", task.Task{Program: program, EpisodeSteps: 3}, nil},
		{"own", task.Task{}, nil},
	} {
		var said notes
		c.task.New = func(uint64) (task.Env, error) { return &counting{}, nil }
		s, err := New(Config{Task: c.task, Name: c.name, Copies: 1}, &said, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Begin(nil); err != nil {
			t.Fatal(err)
		}
		for range 9 {
			if err := s.Step(func() error { return nil }); err != nil {
				t.Fatal(err)
			}
			s.Advance()
		}
		if len(said) != len(c.want) {
			t.Errorf("%s: %q", c.name, said)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(said[i], want) {
				t.Errorf("%q, want %q", said[i], want)
			}
		}
	}
}
