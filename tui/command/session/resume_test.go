package session

import (
	"strings"
	"testing"

	"pgrlab/core/config"
)

// What a preset plans for a step that the run does not reach is said before the run begins.
func TestPlansAfterTheEndAreNamed(t *testing.T) {
	c := config.Config{Steps: 5000, Schedule: []string{"20k:tau=0.1", "4999:tau=0.2", "5000:tau=0.3!"}}
	got := (&session{config: c}).unmet()
	if len(got) != 1 || !strings.Contains(got[0], "too late for a run of 5,000 steps: 5000:tau=0.3!, 20000:tau=0.1: ") {
		t.Errorf("it says %q", got)
	}
	c.Steps = 20_001
	if got := (&session{config: c}).unmet(); len(got) > 0 {
		t.Errorf("a run that reaches all of them says %q", got)
	}
}
