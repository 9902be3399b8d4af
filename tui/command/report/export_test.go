package report

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/agent/sac"
	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/core/testing/tiny"
	"pgrlab/tui/command/cli"
)

// While a run goes on beyond an end, its policy is still that of the end: weights then say no step.
func TestWeightsSayTheStepOfTheirEnd(t *testing.T) {
	dir := t.TempDir()
	savePolicy(t, filepath.Join(dir, run.PolicyName))
	for done, want := range map[bool]string{true: "7000", false: ""} {
		_, about, err := (&exportRequest{}).policy(&report.Run{Dir: dir, Task: "t", Step: 7000, Done: done, Members: []report.Member{{Seed: 1}}})
		if err != nil || about["step"] != want || about["task"] != "t" {
			t.Errorf("done %v: %v, %v", done, about, err)
		}
	}
}

// The members of a cohort have files of their own.
func TestWeightsOfMembers(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("m", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"policy-0.bin", "policy-1.bin"} {
		savePolicy(t, filepath.Join("m", name))
	}
	for member, want := range map[int]string{-1: "m-member0.safetensors\n", 1: "m-member1.safetensors\n"} {
		var said strings.Builder
		r := exportRequest{weights: true, member: member}
		if err := r.write(cli.Deps{}, &report.Run{Dir: "m", Members: make([]report.Member, 2)}, io.Discard, &said); err != nil || said.String() != want {
			t.Errorf("member %d: %q, %v", member, said.String(), err)
		}
		said.Reset()
		again := strings.TrimSuffix(want, "\n") + " (replaced)\n"
		if err := r.write(cli.Deps{}, &report.Run{Dir: "m", Members: make([]report.Member, 2)}, io.Discard, &said); err != nil || said.String() != again {
			t.Errorf("member %d again: %q, %v", member, said.String(), err)
		}
	}
}

// savePolicy writes a policy that has learned nothing.
func savePolicy(t *testing.T, path string) {
	t.Helper()
	a, err := sac.New(sac.DefaultConfig(2, 1), tiny.Device(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := a.SavePolicy(file); err != nil {
		t.Fatal(err)
	}
}

// Only returns of the control suite are parts of 1,000.
func TestFullMarks(t *testing.T) {
	full := fullMarks([]*report.Run{{Task: "cheetah-run"}, {Task: "Hopper-v2"}, {Task: "maze-sparse"}, {Task: "maze-very-sparse"}})
	if !maps.Equal(full, map[string]float64{"cheetah-run": 1000}) {
		t.Errorf("%v", full)
	}
}
