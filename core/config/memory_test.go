package config

import (
	"testing"

	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/core/task"
)

// A checkpoint has room for D_syn, and for another one that is being made, with as many transitions as
// the knob samples allows.
func TestALimitIsThatOfAllSamples(t *testing.T) {
	c := Config{Steps: 10, Members: 1, Buffer: 1_000_000, Knobs: knob.Settings{Samples: 10}}
	c.Generator.Kind = "diffusion"
	problem := task.Task{ObsSize: 78, ActSize: 12}
	limit := c.Limit(problem)
	if least := run.Limit(2 * 4 * c.Rows(problem).Width() * c.Buffer); limit < least {
		t.Errorf("at most %d bytes, two D_syn have %d", limit, least)
	}
	if c.Knobs.Samples = c.Buffer; c.Limit(problem) != limit {
		t.Errorf("%d bytes before the knob is turned, %d after it", limit, c.Limit(problem))
	}
}
