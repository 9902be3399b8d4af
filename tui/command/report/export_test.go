package report

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"pgrlab/core/agent/sac"
	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/core/testing/tiny"
)

// While a run goes on beyond an end, its policy is still that of the end: weights then say no step.
func TestWeightsSayTheStepOfTheirEnd(t *testing.T) {
	a, err := sac.New(sac.DefaultConfig(2, 1), tiny.Device(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, run.PolicyName))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := a.SavePolicy(file); err != nil {
		t.Fatal(err)
	}
	for done, want := range map[bool]string{true: "7000", false: ""} {
		_, about, err := (&exportRequest{}).policy(&report.Run{Dir: dir, Task: "t", Step: 7000, Done: done, Members: []report.Member{{Seed: 1}}})
		if err != nil || about["step"] != want || about["task"] != "t" {
			t.Errorf("done %v: %v, %v", done, about, err)
		}
	}
}

// Only returns of the control suite are parts of 1,000.
func TestFullMarks(t *testing.T) {
	full := fullMarks([]*report.Run{{Task: "cheetah-run"}, {Task: "Hopper-v2"}, {Task: "maze-sparse"}, {Task: "maze-very-sparse"}})
	if !maps.Equal(full, map[string]float64{"cheetah-run": 1000}) {
		t.Errorf("%v", full)
	}
}
