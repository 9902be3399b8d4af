package sweep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/run"
	"pgrlab/core/sweep"
	"pgrlab/tui/command/cli"
)

// An attempt that is warned but has made no progress is not queued again, since it would repeat for
// ever. An attempt that is not warned is never queued again.
func TestWhatIsQueuedAgain(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "scontrol"), []byte("#!/bin/sh\necho \"$@\" >> "+dir+"/called\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	g, err := sweep.Create(filepath.Join(dir, "sweep"), []sweep.Job{{Task: "t", Method: "m", Steps: 9}, {Index: 1, Task: "t", Method: "m", Steps: 9}}, [][]byte{nil, nil})
	if err != nil {
		t.Fatal(err)
	}
	saved := func(ctx context.Context) error {
		syscall.Kill(os.Getpid(), syscall.SIGUSR2)
		<-ctx.Done()
		var s cli.Signalled
		if !errors.As(context.Cause(ctx), &s) || s.Signal != syscall.SIGTERM {
			t.Errorf("it is ended by %v", context.Cause(ctx))
		}
		return runAgain{"two jobs"}
	}
	if err := attemptAndRequeue(t.Context(), g, "71_3", g.Jobs, saved); !errors.Is(err, errStandstill) {
		t.Errorf("%v", err)
	}
	for want, attempt := range map[error]func(context.Context) error{
		nil:             func(context.Context) error { return nil },
		runAgain{"job"}: func(context.Context) error { return runAgain{"job"} },
	} {
		if err := attemptAndRequeue(t.Context(), g, "71_3", g.Jobs, attempt); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "called")); err == nil {
		t.Errorf("it was queued again: %s", text)
	}
	// One of the jobs has been done meanwhile, which counts as progress.
	done := func(ctx context.Context) error {
		ends(t, g, g.Jobs[1])
		return saved(ctx)
	}
	if err := attemptAndRequeue(t.Context(), g, "71_3", g.Jobs, done); errors.Is(err, errStandstill) {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "called")); string(text) != "requeue 71_3\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// Outside of Slurm there is no job to requeue.
func TestElement(t *testing.T) {
	t.Setenv("SLURM_ARRAY_JOB_ID", "71")
	t.Setenv("SLURM_ARRAY_TASK_ID", "3")
	if id, err := element(); id != "71_3" || err != nil {
		t.Errorf("%q, %v", id, err)
	}
	t.Setenv("SLURM_ARRAY_JOB_ID", "")
	t.Setenv("SLURM_ARRAY_TASK_ID", "")
	if _, err := element(); err == nil || !strings.Contains(err.Error(), "no element of a job array") {
		t.Errorf("outside of Slurm: %v", err)
	}
}

// A fit may take longer than an attempt: a checkpoint further on in it is progress.
func TestAFitOfSeveralAttempts(t *testing.T) {
	g := made(t)
	folder, err := run.Create(g.Run(g.Jobs[0]), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	var before []string
	for _, position := range []string{"9/fit:5000", "9/fit:80000", "9"} {
		if _, _, err := folder.WriteCheckpoint(&run.Checkpoint{Header: run.Header{Step: 9, Position: position, Journal: run.EmptyMark()}}); err != nil {
			t.Fatal(err)
		}
		now := progress(g, g.Jobs)
		if slices.Equal(now, before) || !slices.Equal(now, progress(g, g.Jobs)) {
			t.Errorf("%q after %q", now, before)
		}
		before = now
	}
}
