package ppo

import (
	"slices"
	"testing"

	"pgrlab/core/agent"
)

// The learner has the phases that a configuration expects of it before it is made.
func TestTheSpecNamesThePhases(t *testing.T) {
	spec, err := agent.Find("ppo")
	if err != nil {
		t.Fatal(err)
	}
	dev := newDevice(t, 1)
	for generates, x := range map[bool]agent.Phased{false: newAgent(t, small(), dev), true: newLatentAgent(t, smallLatent(), dev)} {
		var names []string
		for _, p := range x.Phases() {
			names = append(names, p.Name)
		}
		if want := spec.Phases(agent.Deps{Generates: generates}); !slices.Equal(names, want) {
			t.Errorf("generates %v: %q, want %q", generates, names, want)
		}
	}
}
