package program

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/sweep"
	"pgrlab/tui/command/cli"
)

// A sweep is killed in the middle, together with its job. Started again, it does what is missing
// exactly once, and the journals are those of undisturbed runs.
func TestAKilledSweepIsFinished(t *testing.T) {
	setUp(t)
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	grid := []string{"--preset", "tiny.toml", "--steps", "300", "--method", "sac,pgr-curiosity", "--seeds", "0-1"}
	second := holdAt(t, 1, 200) // jobs 0 and 1 are those of sac
	first, said := child(t, append([]string{"sweep", "--out", "sweep", "--jobs", "1"}, grid...)...)
	first.Env = append(first.Env, second.setting)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	under := second.await()
	g, err := sweep.Open("sweep")
	if err != nil {
		t.Fatal(err)
	}
	jobs := g.Jobs
	first.Process.Kill()
	syscall.Kill(under.pid, syscall.SIGKILL)
	first.Wait()
	under.dies()
	done, ok := g.Result(jobs[0])
	if _, early := g.Result(jobs[1]); !ok || early {
		t.Fatalf("results of the first two jobs: %v, %v:\n%s", ok, early, said)
	}
	again, said := child(t, "sweep", "--out", "sweep", "--jobs", "2") // the folder on disk says what to run
	if err := again.Run(); err != nil {
		t.Fatalf("%v:\n%s", err, said)
	}
	if !strings.Contains(said.String(), "4 of 4 done") || len(jobs) != 4 {
		t.Errorf("%d jobs:\n%s", len(jobs), said)
	}
	for _, end := range []string{"METHOD", "  sac  ", "  pgr-curiosity  ", "without an interval", "pgrlab report sweep --figure curves --out sweep/report\n"} {
		if _, results, _ := strings.Cut(said.String(), "4 of 4 done"); !strings.Contains(results, end) {
			t.Errorf("it does not end with %q:\n%s", end, said)
		}
	}
	for i, attempts := range []int{1, 2, 1, 1} {
		r, ok := g.Result(jobs[i])
		if !ok || r.Attempts != attempts || r.Return == nil || r.Job != jobs[i] {
			t.Errorf("job %d: %v, %+v", i, ok, r)
		}
		if n := types(t, g.Run(jobs[i])); n[event.TypeStart] != 1 || n[event.TypeDone] != 1 {
			t.Errorf("job %d: %v", i, n)
		}
	}
	if now, _ := g.Result(jobs[0]); !now.Finished.Equal(done.Finished) {
		t.Error("a job that was done was done again")
	}
	whole, said := child(t, "train", "--preset", g.Config(jobs[1]), "--out", "whole")
	if err := whole.Run(); err != nil {
		t.Fatalf("%v:\n%s", err, said)
	}
	if canonical(t, g.Run(jobs[1])) != canonical(t, "whole") {
		t.Error("the killed job has another journal than an undisturbed run")
	}

	other, _ := child(t, append([]string{"sweep", "--out", "sweep", "--set", "utd=1"}, grid...)...)
	if other.Run(); other.ProcessState.ExitCode() != cli.StatusUsage {
		t.Errorf("another grid over the same folder: status %d", other.ProcessState.ExitCode())
	}
}

// This is the contract of an attempt: when asked to end, it saves itself and asks to be run again,
// and while it lasts no other process makes one.
func TestAnAttemptAsksToBeRunAgain(t *testing.T) {
	setUp(t)
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	doc, err := os.ReadFile("tiny.toml")
	if err != nil {
		t.Fatal(err)
	}
	j := sweep.Job{Task: "cartpole-swingup", Method: "pgr-curiosity", Seed: 1, Steps: 150}
	g, err := sweep.Create("sweep", []sweep.Job{j}, [][]byte{append([]byte("seed = 1\n"), doc...)})
	if err != nil {
		t.Fatal(err)
	}
	middle := holdAt(t, 1, 100)
	attempt, said := child(t, "sweep", "job", "sweep", "0")
	attempt.Env = append(attempt.Env, middle.setting)
	if err := attempt.Start(); err != nil {
		t.Fatal(err)
	}
	waits := middle.await()
	twin, _ := child(t, "sweep", "job", "sweep", "0")
	if twin.Run(); twin.ProcessState.ExitCode() != cli.StatusElsewhere {
		t.Errorf("a twin: status %d", twin.ProcessState.ExitCode())
	}
	attempt.Process.Signal(syscall.SIGTERM)
	eventually(t, "it has received the signal", func() bool {
		log, err := os.ReadFile(fmt.Sprintf("%s/attempts/1/log", g.Dir(j)))
		return err == nil && strings.Contains(string(log), "saving and ending")
	})
	waits.release()
	if attempt.Wait(); attempt.ProcessState.ExitCode() != cli.StatusAgain {
		t.Errorf("status %d:\n%s", attempt.ProcessState.ExitCode(), said)
	}
	if found, _ := filepath.Glob(filepath.Join(g.Run(j), "checkpoints", "*.ckpt")); len(found) == 0 {
		t.Error("it has not saved itself")
	}
	last, said := child(t, "sweep", "job", "sweep", "0")
	if err := last.Run(); err != nil {
		log, _ := os.ReadFile(fmt.Sprintf("%s/attempts/2/log", g.Dir(j)))
		t.Fatalf("%v:\n%s%s", err, said, log)
	}
	if r, ok := g.Result(j); !ok || r.Attempts != 2 {
		t.Errorf("%v, %+v", ok, r)
	}
}

// A sweep that is running tries its failed jobs again when another process asks it to, shows that
// process its progress, and ends on request.
func TestAFailedJobIsRequeued(t *testing.T) {
	setUp(t)
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	if out, err := onCluster(t, "sweep", "--out", "s", "--preset", "tiny.toml", "--steps", "75", "--method", "sac", "--seeds", "1"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := onCluster(t, "sweep", "requeue", "s"); err == nil || !strings.Contains(out, "no sweep is at work") {
		t.Errorf("no sweep is at work: %v: %s", err, out)
	}
	middle := holdAt(t, 2, 60)
	view, said := child(t, "sweep", "--out", "fails", "--preset", "tiny.toml", "--steps", "75", "--method", "sac", "--seeds", "1-2", "--jobs", "2")
	view.Env = append(view.Env, middle.setting)
	broken := filepath.Join("fails", "0000-cartpole-swingup-sac-s1", "run")
	if err := os.MkdirAll(broken, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, "events.jsonl"), []byte("no journal"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := view.Start(); err != nil {
		t.Fatal(err)
	}
	waits := middle.await()
	g, err := sweep.Open("fails")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the first job failed, and the worker says so", func() bool {
		w := g.Workers()
		return len(g.FailedJobs()) == 1 && len(w) == 1 && len(w[0].Failed) == 1 && len(w[0].Running) == 1
	})
	if out, err := onCluster(t, "sweep", "status", "fails"); err != nil || !strings.Contains(out, "1 of 2 at work, 1 failed") || !strings.Contains(out, "0 of 2 done, 1 failed") {
		t.Errorf("%v: %s", err, out)
	}
	if err := os.RemoveAll(broken); err != nil {
		t.Fatal(err)
	}
	if out, err := onCluster(t, "sweep", "requeue", "fails"); err != nil || !strings.Contains(out, "1 jobs that failed are tried again") {
		t.Errorf("%v: %s", err, out)
	}
	eventually(t, "it is done", func() bool { return len(g.Missing()) == 1 })
	if out, err := onCluster(t, "sweep", "poke", "fails"); err != nil || !strings.Contains(out, "1 jobs save themselves") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := onCluster(t, "sweep", "cancel", "fails"); err != nil || !strings.Contains(out, "1 worker saves its jobs and ends") {
		t.Errorf("%v: %s", err, out)
	}
	waits.release()
	if view.Wait(); view.ProcessState.ExitCode() != 143 {
		t.Errorf("status %d: %s", view.ProcessState.ExitCode(), said)
	}
	if found, _ := os.ReadDir(filepath.Join("fails", "workers")); len(found) != 2 { // what was asked
		t.Errorf("left: %v", found)
	}
}

// A run that is in the results file is not made again, on whatever machine and in whatever folder
// it was made. Results that a killed sweep had computed but not written are added.
func TestASweepLeavesOutWhatHasResults(t *testing.T) {
	setUp(t)
	sweepTo := func(out, seeds string) string {
		t.Helper()
		c, said := child(t, "sweep", "--out", out, "--preset", "tiny.toml", "--steps", "75", "--method", "sac", "--seeds", seeds, "--results", "study.csv")
		if err := c.Run(); err != nil {
			t.Fatalf("%v:\n%s", err, said)
		}
		return said.String()
	}
	if said := sweepTo("first", "0-1"); !strings.Contains(said, "2 of 2 done\n") {
		t.Errorf("the first sweep:\n%s", said)
	}
	before, err := os.ReadFile("study.csv")
	if err != nil {
		t.Fatal(err)
	}
	said := sweepTo("second", "0-2")
	for _, want := range []string{"2 of 3 stand in study.csv already\n", "1 of 3 done, 2 not needed\n", "  3  "} {
		if !strings.Contains(said, want) {
			t.Errorf("the second sweep does not say %q:\n%s", want, said)
		}
	}
	if _, err := os.Stat(filepath.Join("second", "0000-cartpole-swingup-sac-s0", "run")); err == nil {
		t.Error("what stood in the file was done again")
	}
	if said := sweepTo("none", "0-1"); !strings.Contains(said, "pgrlab report study.csv --figure") {
		t.Errorf("a sweep without a run of its own does not name the file:\n%s", said)
	}
	if err := os.WriteFile("study.csv", before, 0o666); err != nil { // as if the sweep was killed before it was written
		t.Fatal(err)
	}
	if said := sweepTo("second", "0-2"); !strings.Contains(said, "study.csv: 1 new") {
		t.Errorf("the result was not added:\n%s", said)
	}
	c, said2 := child(t, "sweep", "--out", "third", "--preset", "tiny.toml", "--method", "sac", "--seeds", "0", "--results", "tiny.toml")
	if c.Run(); c.ProcessState.ExitCode() != cli.StatusUsage || strings.Count(said2.String(), "\n") != 1 {
		t.Errorf("status %d: %s", c.ProcessState.ExitCode(), said2)
	}
}
