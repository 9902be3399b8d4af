package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/sweep"
)

// Three runs share a job, and each has its own attempts. A run that fails does not affect the
// others and is tried again on request. The warning of the job reaches all runs, which save
// themselves and continue when the job runs again; so do runs that are poked or cancelled.
func TestRunsShareAJobOnSlurm(t *testing.T) {
	startSlurm(t)
	setUp(t)
	t.Setenv(childVariable, "1")
	failing := filepath.Join("shared", "0001-cartpole-swingup-sac-s2", "run")
	if err := os.MkdirAll(filepath.Dir(failing), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(failing, nil, 0o644); err != nil { // in the place of the run's folder
		t.Fatal(err)
	}
	view, _ := child(t, "sweep", "--preset", "tiny.toml", "--method", "sac", "--seeds", "1-3", "--steps", "10000000", "--device", "cpu", "--out", "shared", "--on", "slurm", "--runs-per-job", "3")
	log, err := os.Create("view.log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	view.Stderr = log
	if err := view.Start(); err != nil {
		t.Fatal(err)
	}
	defer view.Process.Kill()
	var g *sweep.Grid
	eventually(t, "there is a sweep", func() (is bool) { made, err := sweep.Open("shared"); g = made; return err == nil })
	attempt := func(job, n int, file string) bool {
		return exists(filepath.Join(g.Dir(g.Jobs[job]), "attempts", fmt.Sprint(n), file))
	}
	trains := func(jobs ...int) {
		t.Helper()
		for _, i := range jobs {
			before := stepOf(t, g.Run(g.Jobs[i]))
			eventually(t, g.Jobs[i].Name()+" makes steps", func() bool { return stepOf(t, g.Run(g.Jobs[i])) > before })
		}
	}
	asked := func(want string, args ...string) {
		t.Helper()
		if out, err := onCluster(t, args...); err != nil || !strings.Contains(out, want) {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
	trains(0, 2)
	eventually(t, "the view says what failed", func() bool {
		text, _ := os.ReadFile("view.log")
		return strings.Contains(string(text), g.Jobs[1].Name()+": failed: ")
	})
	givenUp := g.Jobs[1].Name() + "  given up on n"
	asked(givenUp, "sweep", "status", "shared")

	ids := submitted(t, "shared")
	if len(ids) != 1 {
		t.Fatalf("submitted %v", ids)
	}
	if out, err := exec.Command("scancel", "--signal=USR2", "-b", ids[0]+"_0").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	eventually(t, "all are tried again", func() bool { return attempt(0, 2, "log") && attempt(1, 2, "log") && attempt(2, 2, "log") })
	for _, i := range []int{0, 2} {
		text, err := os.ReadFile(filepath.Join(g.Dir(g.Jobs[i]), "attempts", "1", "attempt.json"))
		if err != nil || !strings.Contains(string(text), "run me again") {
			t.Errorf("%v: the first attempt at %s ended with %s", err, g.Jobs[i].Name(), text)
		}
	}
	trains(0, 2)

	latest := func(job int) string { return latestCheckpoint(g.Run(g.Jobs[job])) }
	before := []string{latest(0), latest(2)}
	eventually(t, "one has failed again", func() bool {
		out, _ := onCluster(t, "sweep", "status", "shared")
		return strings.Contains(out, givenUp)
	})
	asked("2 jobs save themselves", "sweep", "poke", "shared")
	eventually(t, "both save themselves", func() bool { return latest(0) > before[0] && latest(2) > before[1] })
	if attempt(0, 2, "attempt.json") || attempt(2, 2, "attempt.json") {
		t.Error("a poke ends them")
	}

	if err := os.Remove(failing); err != nil {
		t.Fatal(err)
	}
	asked("1 jobs that failed beside others are tried again", "sweep", "requeue", "shared")
	eventually(t, "it trains as well", func() bool { return stepOf(t, g.Run(g.Jobs[1])) > 0 })
	if attempt(0, 3, "log") || attempt(2, 3, "log") {
		t.Error("the others were disturbed")
	}
	asked("3 jobs are cancelled", "sweep", "cancel", "shared")
	eventually(t, "all have saved themselves", func() bool {
		return attempt(0, 2, "attempt.json") && attempt(1, 3, "attempt.json") && attempt(2, 2, "attempt.json")
	})
	if latest(1) == "" {
		t.Error("what ran for moments was not saved")
	}
	for _, j := range g.Jobs {
		eventually(t, j.Name()+" is free", func() bool { return !g.IsHeld(j) })
	}
}
