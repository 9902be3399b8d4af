package main

import (
	"bytes"
	"context"
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
	"time"

	"pgrlab/core/run"
	"pgrlab/tui/command"
)

// childVariable makes the test binary the program itself, so that tests can kill
// it.
const childVariable = "PGRLAB_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(command.Main(context.Background(), childDeps(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// childDeps are the real parts, with training that waits where a test said so.
func childDeps() command.Deps {
	d := deps()
	if setting := os.Getenv(holdVariable); setting != "" {
		d.Tasks = heldTasks(d.Tasks, setting)
	}
	return d
}

// child is a command line of the program, in a process of its own.
func child(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), childVariable+"=1")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	return c, &stderr
}

// canonical is the deterministic part of the journal of a run.
func canonical(t *testing.T, dir string) string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, run.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b bytes.Buffer
	if err := run.Canonical(f, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Kill -9 at random moments, some of them in the middle of a checkpoint, a fit or
// a line of the journal: the run that is resumed until it is complete has the
// journal of the one that nobody disturbed.
func TestAKilledRunIsResumed(t *testing.T) {
	setUp(t)
	kills := 3
	if soaking() {
		kills = 25
	}
	how := []string{
		"--preset", "tiny.toml", "--seed", "5", "--threads", "1", "--checkpoint-every", "40ms",
		"--at", "60/fit:8:guidance=3!", "--at", "100:ratio=0.25", "--at", "120/generate:3:relevance=td!",
	}
	begin := time.Now()
	whole, said := child(t, append([]string{"train", "--out", "whole"}, how...)...)
	if err := whole.Run(); err != nil {
		t.Fatalf("%v:\n%s", err, said)
	}
	took := time.Since(begin)
	want := canonical(t, "whole")
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	resumed := 0
	for n := range kills {
		dir := fmt.Sprintf("killed-%d", n)
		var lean []string // every other run saves of D_syn only its recipe
		if n%2 == 1 {
			lean = []string{"--lean"}
		}
		args := slices.Concat([]string{"train", "--out", dir}, how, lean)
		for attempt := 0; ; attempt++ {
			c, said := child(t, args...)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			var killer *time.Timer
			if attempt < 2 {
				killer = time.AfterFunc(time.Duration(r.Int64N(int64(took))), func() { c.Process.Kill() })
			}
			err := c.Wait()
			if killer != nil {
				killer.Stop()
			}
			var exit *exec.ExitError
			if err == nil {
				break
			}
			if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("seed %d, kill %d: %v:\n%s", seed, n, err, said)
			}
			if _, err := os.Stat(filepath.Join(dir, run.JournalName)); err == nil {
				args = append([]string{"train", "--resume", dir, "--threads", "1", "--checkpoint-every", "40ms"}, lean...)
				resumed++
			} else {
				os.RemoveAll(dir) // killed before there was a run
			}
		}
		if got := canonical(t, dir); got != want {
			line, a, b, _, _ := run.Diff(strings.NewReader(want), strings.NewReader(got))
			t.Errorf("seed %d, kill %d: line %d is\n%s\nwant\n%s", seed, n, line, b, a)
		}
	}
	t.Logf("%d kills, resumed %d times, the whole run takes %s", kills, resumed, took.Round(time.Millisecond))
}
