package program

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/tui/command"
	"pgrlab/tui/command/cli"
)

// A fork of a finished run needs a length of its own. Without one it is refused with a line that
// says what to do, and nothing is made.
func TestForkOfAFinishedRunHasALength(t *testing.T) {
	d := setUp(t)
	var stderr bytes.Buffer
	train := func(args ...string) {
		t.Helper()
		stderr.Reset()
		if status, _ := pgrlab(t, d, &stderr, append([]string{"train", "--threads", "1"}, args...)...); status != cli.StatusDone {
			t.Fatalf("status %d:\n%s", status, stderr.String())
		}
	}
	train("--preset", "tiny.toml", "--steps", "70", "--out", "whole")
	for _, c := range []struct {
		args []string
		says string // "": the fork is made
	}{
		{[]string{"whole"}, "--steps N"},
		{[]string{"whole", "--steps", "70"}, "want more"},
		{[]string{"whole", "--steps", "0"}, "want 1 to"},
		{[]string{"whole", "--steps", "80", "--out", "longer"}, ""},
	} {
		stderr.Reset()
		status, stdout := pgrlab(t, d, &stderr, append([]string{"fork"}, c.args...)...)
		said := stderr.String()
		switch {
		case c.says == "" && (status != cli.StatusDone || stdout != "longer\n"):
			t.Errorf("fork %v: status %d: %s%s", c.args, status, stdout, said)
		case c.says != "" && (status != cli.StatusUsage || stdout != "" || !strings.Contains(said, c.says) || strings.Count(said, "\n") != 1):
			t.Errorf("fork %v: status %d: %s%q", c.args, status, stdout, said)
		}
	}
	stderr.Reset()
	if status, _ := pgrlab(t, d, &stderr, "fork", "whole", "--steps", "80", "--out", "longer"); status != cli.StatusUsage || !strings.Contains(stderr.String(), "longer exists") {
		t.Errorf("a second fork there: status %d: %s", status, stderr.String())
	}
	stderr.Reset()
	terminal := openTerminal(t)
	if status := command.Main(t.Context(), d, []string{"fork", "whole", "--steps", "80", "--out", "seen"}, terminal, terminal, &stderr); status != cli.StatusDone || stderr.String() != "begin it: pgrlab train --resume seen\n" {
		t.Errorf("on a terminal: status %d: %s", status, stderr.String())
	}
	train("--resume", "longer")
	if n := types(t, "longer"); n[event.TypeDone] != 1 || !strings.Contains(stderr.String(), "80 of 80 steps") {
		t.Errorf("%v:\n%s", n, stderr.String())
	}
}

// A run is taken beyond its end, kills included, and its journal is that of a run that had all
// these steps from the start. At its first end a refit is due and an evaluation is not. Round n has n
// kills; the first of all comes after a checkpoint of the steps beyond that end.
func TestAFinishedRunIsMadeLonger(t *testing.T) {
	setUp(t)
	rounds := 3
	if soaking() {
		rounds = 25
	}
	if err := os.WriteFile("kept.toml", []byte(strings.Replace(tiny, "episodes = 2", "episodes = 2\nkeep_every = 75", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	how := []string{"--preset", "kept.toml", "--seed", "5", "--at", "60/fit:8:guidance=3!", "--at", "100:ratio=0.25"}
	same := []string{"--threads", "1", "--checkpoint-every", "40ms"}
	for dir, steps := range map[string]string{"long": "190", "short": "120"} {
		c, said := child(t, slices.Concat([]string{"train", "--out", dir, "--steps", steps}, how, same)...)
		if err := c.Run(); err != nil {
			t.Fatalf("%v:\n%s", err, said)
		}
	}
	if n := types(t, "short"); n[event.TypeEvaluated] != 2 || n[event.TypeRefit] != 1 {
		t.Errorf("a run of 120 steps has lines %v", n)
	}
	for n := range rounds {
		dir, r := fmt.Sprintf("longer-%d", n), rand.New(rand.NewPCG(uint64(n), 0))
		if err := os.CopyFS(dir, os.DirFS("short")); err != nil {
			t.Fatal(err)
		}
		longer := slices.Concat([]string{"train", "--resume", dir, "--steps", "190"}, same)
		for range n {
			// At most 60 steps in all attempts: each has more than those to make. The first kill of all is among
			// the steps, more than those of one refit, by which generated rows are judged after that of step 180.
			at := 1 + r.IntN(60/n)
			if n == 1 {
				at = 110
			}
			killedAt(t, longer, at, func() bool {
				found, _ := run.Checkpoints(dir)
				return n > 1 || slices.ContainsFunc(found, func(c run.Found) bool { return c.Step >= 150 })
			})
		}
		c, said := child(t, longer...)
		if err := c.Run(); err != nil {
			t.Fatalf("round %d: %v:\n%s", n, err, said)
		}
		a, err := os.ReadFile(filepath.Join(dir, run.ConfigName))
		b, err2 := os.ReadFile(filepath.Join("long", run.ConfigName))
		if err != nil || err2 != nil || string(a) != string(b) {
			t.Errorf("config.toml is\n%s\nwant\n%s", a, b)
		}
		if want, got := canonical(t, "long"), canonical(t, dir); got != want {
			line, a, b, _, _ := run.Diff(strings.NewReader(want), strings.NewReader(got))
			t.Errorf("after %d kills: line %d is\n%s\nwant\n%s", n, line, b, a)
		}
	}
}

// killedAt starts a process that trains a run with seed 5, and kills it, when ready, before the step of that
// number of one of its environments: the one that it trains in, or the one that generated rows are compared
// with.
func killedAt(t *testing.T, args []string, step int, ready func() bool) {
	t.Helper()
	h := holdAt(t, 5, step)
	c, said := child(t, args...)
	c.Env = append(c.Env, h.setting)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	held := h.await()
	eventually(t, "it can be killed", ready)
	c.Process.Kill()
	err := c.Wait()
	held.dies()
	if exit, is := errors.AsType[*exec.ExitError](err); !is || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("it was not killed: %v:\n%s", err, said)
	}
}

// A length that is not beyond the end is refused in one line, and so is a method whose schedule
// spans the run; the folder stays unchanged.
func TestLengthsThatARunCannotHave(t *testing.T) {
	d := setUp(t)
	var stderr bytes.Buffer
	train := func(args ...string) int {
		stderr.Reset()
		status, _ := pgrlab(t, d, &stderr, append([]string{"train", "--threads", "1"}, args...)...)
		return status
	}
	for dir, method := range map[string]string{"plain": "sac", "prioritized": "per-td"} {
		preset := strings.Replace(strings.Replace(tiny, "pgr-curiosity", method, 1), "steps = 150", "steps = 60", 1)
		preset = preset[:strings.Index(preset, "[curiosity]")] + "[knobs]\nutd = 1\nbatch = 16\n"
		if err := os.WriteFile(dir+".toml", []byte(preset), 0o644); err != nil {
			t.Fatal(err)
		}
		if status := train("--preset", dir+".toml", "--out", dir); status != cli.StatusDone {
			t.Fatalf("%s: status %d:\n%s", dir, status, stderr.String())
		}
		if says, longer := stderr.String(), "pgrlab --resume "+dir+" --steps N"; strings.Contains(says, longer) != (dir == "plain") || strings.Contains(says, "pgrlab fork "+dir+" --steps N") == (dir == "plain") {
			t.Errorf("%s: at its end it says\n%s", dir, says)
		}
	}
	before := map[string]string{}
	for _, dir := range []string{"plain", "prioritized"} {
		text, err := os.ReadFile(filepath.Join(dir, run.ConfigName))
		if err != nil {
			t.Fatal(err)
		}
		before[dir] = string(text) + canonical(t, dir)
	}
	for _, c := range []struct{ dir, steps, says string }{
		{"plain", "60", "--steps is 60, but the run has 60: want more"},
		{"plain", "59", "--steps is 59, but the run has 60: want more"},
		{"prioritized", "70", "β rises from 0.4 to 1 over 60 steps: begin it again with --steps 70, or go on otherwise: pgrlab fork prioritized --steps 70"},
	} {
		if status := train("--resume", c.dir, "--steps", c.steps); status != cli.StatusUsage || !strings.Contains(stderr.String(), c.says) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s to %s steps: status %d, %q", c.dir, c.steps, status, stderr.String())
		}
		text, err := os.ReadFile(filepath.Join(c.dir, run.ConfigName))
		if err != nil || string(text)+canonical(t, c.dir) != before[c.dir] {
			t.Errorf("%s is not what it was (%v)", c.dir, err)
		}
	}
	if status, _ := pgrlab(t, d, &stderr, "fork", "prioritized", "--steps", "70"); status != cli.StatusDone {
		t.Errorf("the fork: status %d, %q", status, stderr.String())
	}
	if status := train("--resume", "plain"); status != cli.StatusDone || !strings.Contains(stderr.String(), "has made all its steps") {
		t.Errorf("as it is: status %d, %q", status, stderr.String())
	}
	if status := train("--resume", "plain", "--steps", "70"); status != cli.StatusDone || !strings.Contains(stderr.String(), "70 of 70 steps") {
		t.Errorf("longer: status %d, %q", status, stderr.String())
	}
}
