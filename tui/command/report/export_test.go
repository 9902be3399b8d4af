package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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
		p, err := policyOf(cli.Deps{}, &report.Run{Dir: dir, Task: "t", Step: 7000, Done: done, Members: []report.Member{{Seed: 1}}}, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if p.about["step"] != want || p.about["task"] != "t" {
			t.Errorf("done %v: %v", done, p.about)
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
		r := exportRequest{weights: true, member: member, step: -1}
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
	full := fullMarks([]*report.Run{{Task: "cheetah-run"}, {Task: "Hopper-v2"}, {Task: "maze-sparse"}, {Task: "maze-very-sparse"},
		{Task: "gym:Pendulum-v1"}, {Task: "file:pole"}, {Task: "env:python3 a.py"}})
	if !maps.Equal(full, map[string]float64{"cheetah-run": 1000}) {
		t.Errorf("%v", full)
	}
}

// The uploader hands each of the three clients the numbers that CSV has, with the run's name and settings; its
// modules are fakes that write down what they are given.
func TestTheUploaderUploadsWhatCSVHas(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 here")
	}
	var table, script strings.Builder
	of, err := report.Load("../../../docs/demo")
	if err == nil {
		err = errors.Join(of.CSV(&table), writeUploader(&script, []string{"../../../docs/demo"}))
	}
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(table.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, r := range rows[1:] {
		v, err := strconv.ParseFloat(r[4], 64)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprintf("%s %s %.9g", r[0], r[3], v))
	}
	slices.Sort(want)
	dir := t.TempDir()
	path := filepath.Join(dir, "upload.py")
	if err := os.WriteFile(path, []byte(script.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, client := range []string{"wandb", "mlflow", "trackio"} {
		c := exec.Command(python, path, client, "--project", "mine")
		c.Env = append(os.Environ(), "PYTHONPATH=testdata/clients", "PYTHONDONTWRITEBYTECODE=1", "UPLOADED="+filepath.Join(dir, client))
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), " lines to "+client+", project mine") {
			t.Errorf("%s: %v: %s", client, err, out)
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, client))
		if err != nil {
			t.Fatal(err)
		}
		head, lines, _ := strings.Cut(string(text), "\n")
		if head != "mine demo cheetah-run 1" {
			t.Errorf("%s begins with %q", client, head)
		}
		got := strings.Split(strings.TrimSuffix(lines, "\n"), "\n")
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s has %d numbers, CSV %d; for example %q and %q", client, len(got), len(want), got[:3], want[:3])
		}
	}
	cohort := filepath.Join(dir, "cohort")
	if err := os.Mkdir(cohort, 0o755); err != nil {
		t.Fatal(err)
	}
	journal := `{"type":"start","step":0,"task":"t","method":"m","seed":3,"members":2,"obs":{"time":"2026-11-26T17:52:35+01:00"}}
{"type":"scores","step":5,"member":1,"f":{"quantiles":[1,"NaN",3],"flag":true,"name":"x"},"obs":{"seconds":2},"wall_s":1.5}
{"type":"perf","step":6,"rate":2.5,"wall_s":2}
{"type":"perf","step":7,"ra`
	if err := os.WriteFile(filepath.Join(cohort, run.JournalName), []byte(journal), 0o644); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(python, path, "trackio", cohort)
	c.Env = append(os.Environ(), "PYTHONPATH=testdata/clients", "PYTHONDONTWRITEBYTECODE=1", "UPLOADED="+filepath.Join(dir, "numbers"))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "numbers"))
	if want := "pgrlab cohort t 3\n5 scores/f/q10/member 1 1\n5 scores/f/q50/member 1 nan\n5 scores/f/q90/member 1 3\n5 scores/seconds/member 1 2\n6 perf/rate 2.5\n"; err != nil || string(text) != want {
		t.Errorf("%v: %q, want %q", err, text, want)
	}
	c = exec.Command(python, path, "wandb")
	c.Env = append(os.Environ(), "PYTHONPATH=", "PYTHONDONTWRITEBYTECODE=1")
	c.Args = slices.Insert(c.Args, 1, "-S") // without the modules that are installed
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "wandb cannot be imported") || !strings.Contains(string(out), "pip install wandb") {
		t.Errorf("%v: %s", err, out)
	}
	c = exec.Command(python, path, "wandb", dir)
	c.Env = append(os.Environ(), "PYTHONPATH=testdata/clients", "PYTHONDONTWRITEBYTECODE=1")
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "is no run folder: it has no events.jsonl") {
		t.Errorf("%v: %s", err, out)
	}
}
