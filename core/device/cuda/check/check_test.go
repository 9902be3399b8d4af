// Package check_test rehearses check.py, in its short form with stand-ins for the
// programs that it runs: `python3 check.py --rehearse` in the folder that make
// gpu-bundle makes has the real ones, and takes minutes.
package check_test

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type step struct {
	OK       bool `json:"ok"`
	Status   *int
	TimedOut bool `json:"timed_out"`
	Signal   string
	Seconds  *float64
	Said     string
	Hours    float64
	Each     map[string]float64
	Spilled  map[string]int
	Result   struct{ MS float64 }
}

type report struct {
	Steps      map[string]step
	MS         map[string]map[string]struct{ MS float64 }
	Unlaunched []string
}

// bundle returns a folder with the programs and with stand-ins for those that they run.
func bundle(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed: check.py is not rehearsed")
	}
	dir := t.TempDir()
	programs, err := filepath.Glob("*.py")
	if err != nil || len(programs) != 4 {
		t.Fatalf("%v, %v", programs, err)
	}
	names := map[string]string{"testdata/pgrlab.py": "pgrlab", "testdata/cuda_test.py": "cuda.test"}
	for _, p := range programs {
		names[p] = p
	}
	for from, to := range names {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A failure, a hang and a crash are reported as what they are, and everything else is reported too.
// Results are on the disk while it runs (the stand-in for cuda.test checks that).
func TestRehearsal(t *testing.T) {
	dir := bundle(t)
	c := exec.Command("python3", "check.py", "--rehearse")
	c.Dir = dir
	said, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if !strings.Contains(string(said), "the rehearsal went as it should") {
		t.Errorf("it says\n%s", said)
	}
	text, err := os.ReadFile(filepath.Join(dir, "gpu-check.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	for name, s := range r.Steps {
		switch {
		case name == "tile fp32/32x32":
			if s.OK || s.Status == nil || *s.Status != 3 || !strings.Contains(s.Said, "injected failure") {
				t.Errorf("the failure: %+v", s)
			}
		case name == "test TestTemperature":
			if s.OK || s.Status != nil || !s.TimedOut || !strings.Contains(s.Said, "injected hang") {
				t.Errorf("the hang: %+v", s)
			}
		case name == "bench cpu critic":
			if s.OK || s.Status != nil || s.Signal != "SIGSEGV" {
				t.Errorf("the crash: %+v", s)
			}
		case !s.OK && !strings.HasPrefix(name, "torch "), s.Seconds == nil:
			t.Errorf("%s: %+v", name, s)
		}
	}
	for _, name := range []string{"compile", "tile bf16/BF16_64x64", "test TestOdd", "bench cpu act", "profile", "train demo fp32", "train frames fp32"} {
		if !r.Steps[name].OK {
			t.Errorf("%s: %+v", name, r.Steps[name])
		}
	}
	if !slices.Equal(r.Unlaunched, []string{"c"}) || r.Steps["compile"].Spilled["b"] != 8 || r.MS["pgrlab fp32"]["act"].MS != 0.5 {
		t.Errorf("not launched %v, spilled %v, times %v", r.Unlaunched, r.Steps["compile"].Spilled, r.MS)
	}
	// All perf lines count: each holds the time spent since the previous one.
	train := r.Steps["train demo fp32"]
	for part, want := range map[string]float64{"act": 4.0 / 2000, "agent": 50.0 / 1000, "fit": 4.0 / 20, "generate": 2.56 / 256, "evaluate": 3.0 / 2} {
		if got := train.Each[part]; math.Abs(got-want) > 1e-9 {
			t.Errorf("one %s took %v s, want %v", part, got, want)
		}
	}
	if want := (0.05*95_000 + 0.2*10*3_000 + 0.01*10*10_000 + 1.5*100 + 0.002*100_000) / 3600; math.Abs(train.Hours-want) > 1e-9 {
		t.Errorf("a whole run: %v h, want %v", train.Hours, want)
	}
}

// Without time nothing is checked. The report says so and is complete, and this is not a success.
func TestWithoutTime(t *testing.T) {
	dir := bundle(t)
	c := exec.Command("python3", "check.py", "--minutes", "0", "--json", "other.json")
	c.Dir = dir
	said, err := c.CombinedOutput()
	if err == nil || !strings.Contains(string(said), "unchecked: ") || !strings.Contains(string(said), "left out, there is no time") {
		t.Errorf("%v\n%s", err, said)
	}
	text, err := os.ReadFile(filepath.Join(dir, "other.json"))
	if err != nil || !json.Valid(text) {
		t.Errorf("%v\n%s", err, text)
	}
}

// A step that is under way when the check's time ends is cut off and has not failed; one that uses up
// its own time hangs.
func TestAStepWithoutTime(t *testing.T) {
	dir := bundle(t)
	const program = `
import steps, sys
c = steps.Check("report.json", 1, {})
for name, limit in ("cut", 90), ("hang", 1):
    times = iter([60, 1])
    c.left = lambda: next(times)
    c.step(name, [sys.executable, "-c", "import time; time.sleep(600)"], limit)
print("failed:", c.failed())
`
	c := exec.Command("python3", "-c", program)
	c.Dir = dir
	said, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(said), "cut: cut off, there is no time") || !strings.Contains(string(said), "failed: ['hang']") {
		t.Errorf("%v\n%s", err, said)
	}
}
