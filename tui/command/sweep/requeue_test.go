package sweep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/sweep"
	"pgrlab/tui/command/cli"
)

// An attempt that is warned and has come no further is not queued again, for it would be
// for ever; one that is not warned never is.
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
	t.Setenv("SLURM_ARRAY_JOB_ID", "71")
	t.Setenv("SLURM_ARRAY_TASK_ID", "3")
	g, err := sweep.Create(filepath.Join(dir, "sweep"), []sweep.Job{{Task: "t", Method: "m"}}, [][]byte{nil})
	if err != nil {
		t.Fatal(err)
	}
	j := g.Jobs[0]
	saved := func(ctx context.Context) error {
		syscall.Kill(os.Getpid(), syscall.SIGUSR2)
		<-ctx.Done()
		var s cli.Signalled
		if !errors.As(context.Cause(ctx), &s) || s.Signal != syscall.SIGTERM {
			t.Errorf("it is ended by %v", context.Cause(ctx))
		}
		return runAgain{j.Name()}
	}
	if err := attemptAndRequeue(t.Context(), g, j, saved); !errors.Is(err, errStandstill) {
		t.Errorf("%v", err)
	}
	for want, attempt := range map[error]func(context.Context) error{
		nil:             func(context.Context) error { return nil },
		runAgain{"job"}: func(context.Context) error { return runAgain{"job"} },
	} {
		if err := attemptAndRequeue(t.Context(), g, j, attempt); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "called")); err == nil {
		t.Errorf("it was queued again: %s", text)
	}
	t.Setenv("SLURM_ARRAY_JOB_ID", "")
	t.Setenv("SLURM_ARRAY_TASK_ID", "")
	if err := attemptAndRequeue(t.Context(), g, j, saved); err == nil || !strings.Contains(err.Error(), "no element of a job array") {
		t.Errorf("outside of Slurm: %v", err)
	}
}
