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
	if err != nil || len(programs) != 5 {
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
	if want := (0.05*95_000 + 0.2*9*3_000 + 0.01*9*10_000 + 1.5*100 + 0.002*100_000) / 3600; math.Abs(train.Hours-want) > 1e-9 {
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

// A study times each variant twice and not in a row, in processes of their own, reads journals, and goes on where a step fails.
func TestStudies(t *testing.T) {
	dir := bundle(t)
	stand := `#!/usr/bin/env python3
import json, os, sys
a = sys.argv[1:]
if a[0] == "bench" and "--estimate" in a:
    print(json.dumps({"program": "denoiser fit", "launches": 60}))
elif a[0] == "bench":
    off = a[a.index("--without") + 1] if "--without" in a else ""
    if off == "rows":
        sys.exit("it fails")
    print(json.dumps({"workload": a[-1], "ms": 2.0 + len(off)}))
elif a[0] == "train":
    out = a[a.index("--out") + 1]
    os.makedirs(out)
    with open(os.path.join(out, "events.jsonl"), "w") as f:
        for e in {"type": "perf", "spent_s": {"fit": 3.0}}, {"type": "refit", "step": 5}, {"type": "perf", "spent_s": {"fit": 4.0, "act": 1.0}}:
            f.write(json.dumps(e) + "\n")
`
	if err := os.WriteFile(filepath.Join(dir, "pgrlab"), []byte(stand), 0o755); err != nil {
		t.Fatal(err)
	}
	const program = `
import check, steps, studies
c = steps.Check("study.json", 2, {})
s = studies.Study(c, check.at, check.on, "cuda:0", {"env-step": ["sums", "rows"]}, 0.01)
s.right(["TestOdd"], 2)
s.counted("tf32")
s.design("tf32")
s.filled("tf32", 0)
s.cycle("bf16", 9, 20)
c.save()
`
	c := exec.Command("python3", "-c", program)
	c.Dir = dir
	said, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	text, err := os.ReadFile(filepath.Join(dir, "study.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Steps map[string]struct {
			OK     bool
			Spent  map[string]float64
			Each   []float64
			Made   []map[string]any
			Passed int
		}
		Variants map[string]map[string]map[string][]*float64
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	times := r.Variants["tf32"]["env-step"]
	for name, want := range map[string]float64{"as it is": 2, "sums": 6, "sums+rows": 11} {
		if all := times[name]; len(all) != 2 || all[0] == nil || *all[1] != want {
			t.Errorf("%s: %v", name, all)
		}
	}
	if all := times["rows"]; len(all) != 2 || all[0] != nil || r.Steps["tf32 env-step without rows, turn 2"].OK {
		t.Errorf("what failed: %v", all)
	}
	if s := r.Steps["release to 9 bf16"]; s.Spent["fit"] != 7 || len(s.Made) != 1 || len(r.Steps["14 processes"].Each) != 14 || r.Steps["test TestOdd"].Passed != 1 || !r.Steps["counted tf32"].OK {
		t.Errorf("%+v\n%s", r.Steps, said)
	}
}
