package config

import (
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/knob"
)

// planning is a configuration whose learner has one phase, and two beside a generator.
func planning(schedule ...string) Config {
	c := Config{Method: "m", Steps: 1000, Buffer: 500, Agent: agent.Config{Learner: "phased"}, Schedule: schedule}
	c.Generator.Kind = "diffusion"
	c.Knobs = knob.Settings{Ratio: 0.5, Hold: knob.HoldBatch, Batch: 16, Samples: 100}
	return c
}

func init() {
	agent.Register(agent.Spec{
		Name: "phased", Doc: "of this test", Knobs: []string{"batch", "tau"}, New: func(agent.Deps) (*agent.Made, error) { return nil, nil },
		Describe: func(d agent.Deps) (agent.Traits, error) {
			if d.Generates {
				return agent.Traits{Phases: []string{"learn", "encode"}}, nil
			}
			return agent.Traits{Phases: []string{"learn"}}, nil
		},
	})
}

// A plan is refused before the run begins if the run would refuse a change when it comes to it, with the
// settings as earlier changes leave them.
func TestAPlanIsFollowedToItsEnd(t *testing.T) {
	for _, c := range []struct {
		schedule []string
		refused  string // ""; or words of the error
	}{
		{[]string{"10:ratio=1", "20:samples=500"}, ""},
		{[]string{"10:samples=501"}, `schedule "10:samples=501": samples: 501 do not fit`},
		{[]string{"20:hold=real", "10:ratio=1"}, `schedule "20:hold=real": `},
		{[]string{"20:hold=real", "20:ratio=1"}, `schedule "20:ratio=1": `},
		{[]string{"30:hold=real", "10:ratio=1", "20:ratio=0.5"}, ""},
		{[]string{"10/learn:3:tau=0.5", "10/encode:1:tau=0.25", "10/fit:3:ratio=0.25"}, ""},
		{[]string{"10/rollout:3:tau=0.5"}, "the learner of m has no phase rollout"},
		{[]string{"10:utd=2"}, `schedule "10:utd=2": utd: not used by m`},
		{[]string{"10:bonus=0.5"}, `schedule "10:bonus=0.5": bonus: not used by m`},
	} {
		config := planning(c.schedule...)
		err := config.CanFollow()
		if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%q: %v, want %q", c.schedule, err, c.refused)
		}
	}
	onReal := planning("10/encode:1:tau=0.25")
	onReal.Generator.Kind, onReal.Knobs.Ratio = GeneratorNone, 0
	if err := onReal.CanFollow(); err == nil || !strings.Contains(err.Error(), "no phase encode") {
		t.Errorf("without a generator: %v", err)
	}
}

// A configuration that plans a knob which the run does not use is not valid, and a run that has begun need
// not be able to make every change of its plan.
func TestValidateReadsThePlan(t *testing.T) {
	c := planning("10:bonus=0.5")
	if _, err := c.planned(); err == nil {
		t.Error("a knob that is not used is planned")
	}
	c = planning("10:samples=501")
	if _, err := c.planned(); err != nil {
		t.Errorf("a change that does not fit yet: %v", err)
	}
}

// Of many changes that come too late some are named.
func TestUnreachedChanges(t *testing.T) {
	c := planning("1:tau=0.1", "1000:tau=0.2", "2000:tau=0.1", "3000:tau=0.2", "4000:tau=0.1", "5000:tau=0.2", "6000:tau=0.1")
	if got := c.Unreached(); !strings.Contains(got, "a run of 1,000 steps: 1000:tau=0.2, ") || !strings.Contains(got, "5000:tau=0.2, …: ") {
		t.Errorf("%q", got)
	}
}
