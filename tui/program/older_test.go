package program

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/tui/command/cli"
)

// testdata/older comes from a build from before the packages knob, event and inspect; some names in
// its configuration and its checkpoints have changed since. It holds a preset, the folder of a run
// of this preset that was ended in the middle of a fit, and the canonical journal of the whole run.
// All of them can be read, and the run continues as if nothing had changed. (The preset says which
// generator its scale had then.) What lines about D_syn measure beside it has changed since, and is left out.
func TestRunsAndPresetsOfAnOlderBuild(t *testing.T) {
	older, err := filepath.Abs("testdata/older")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PGRLAB_KERNELS", "go") // the same numbers on every machine
	d := setUp(t)
	if err := os.CopyFS("run", os.DirFS(filepath.Join(older, "run"))); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(older, "whole.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	do := func(args ...string) string {
		t.Helper()
		stderr.Reset()
		status, stdout := pgrlab(t, d, &stderr, args...)
		if status != cli.StatusDone {
			t.Fatalf("%v: status %d:\n%s", args, status, stderr.String())
		}
		return stdout
	}
	if text := do("report", "run"); !strings.Contains(text, "pgr-curiosity") || !strings.Contains(text, "cartpole-swingup") {
		t.Errorf("report:\n%s", text)
	}
	want = remeasured.ReplaceAll(want, nil)
	canonical := func(t *testing.T, dir string) string { return remeasured.ReplaceAllString(canonical(t, dir), "") }
	do("train", "--threads", "1", "--resume", "run")
	if got := canonical(t, "run"); got != string(want) {
		t.Errorf("the run that went on is another one:\n%s", firstDifference(got, string(want)))
	}
	if n := types(t, "run"); n[event.TypeDone] != 1 || strings.Contains(stderr.String(), "cannot be used") {
		t.Errorf("%v:\n%s", n, stderr.String())
	}
	do("train", "--threads", "1", "--preset", filepath.Join(older, "preset.toml"), "--device", "cpu", "--seed", "5", "--out", "again")
	if got := canonical(t, "again"); got != string(want) {
		t.Errorf("the run of the preset is another one:\n%s", firstDifference(got, string(want)))
	}
}

// remeasured are what older builds did not measure, or among other real rows; nothing in a run depends
// on it.
var remeasured = regexp.MustCompile(`"(furthest|nearest|nearest_real|copies|coverage)":[^,]*,`)

// firstDifference returns the first lines in which two texts differ.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return "got  " + a[i] + "\nwant " + strings.Join(b[min(i, len(b)):min(i+1, len(b))], "")
		}
	}
	return "it is too short"
}
