package config

import (
	"strings"
	"testing"

	"pgrlab/core/generative"
	"pgrlab/core/task"
)

type files struct{}

func (files) Archive() ([]byte, error) { return nil, nil }
func (files) Notes() []string          { return nil }

// A run that rolls out a model of the dynamics is refused unless it is known where episodes of its task end: the
// error says what to do about that task. Others need no rule.
func TestRolloutsKnowWhereEpisodesEnd(t *testing.T) {
	program := func() any { return nil }
	rule := func(_, _, _ []float32) bool { return false }
	for _, of := range []struct {
		kind string
		task task.Task
		want string // in the error; "": none
	}{
		{"ensemble", task.Task{Name: "never"}, ""},
		{"ensemble", task.Task{Name: "ruled", Terminates: true, Ends: rule}, ""},
		{"ensemble", task.Task{Name: "gym:Ant-v5", Terminates: true, Program: program}, "episodes of gym:Ant-v5 can end by themselves, and rollouts of method m have to know where: say it with a condition, as --set environment.outside.ends='next[0] < 0.5', or that only time ends them, with --set environment.outside.ends=never"},
		{"ensemble", task.Task{Name: "file:pole", Terminates: true, Own: files{}}, "episodes of file:pole can end by themselves, and rollouts of method m have to know where: terminate asks for what is not observed as it is: add that to observe"},
		{"ensemble", task.Task{Name: "other", Terminates: true}, "choose another task"},
		{"diffusion", task.Task{Name: "gym:Ant-v5", Terminates: true, Program: program}, ""},
	} {
		c := New()
		c.Method, c.Generator.Kind = "m", of.kind
		if _, err := generative.Find(of.kind); err != nil {
			t.Fatal(err)
		}
		if err := c.KnowsEnds(of.task); (err == nil) != (of.want == "") || err != nil && !strings.Contains(err.Error(), of.want) {
			t.Errorf("%s on %s: %v, want %q", of.kind, of.task.Name, err, of.want)
		}
	}
}
