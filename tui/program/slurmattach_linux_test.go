package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// From another machine, a run in a job is reached by a step of the job, both for its screen and for
// the requests of scripts. If there is no such job, Slurm's message is passed on.
func TestAttachToAJobOnSlurm(t *testing.T) {
	startSlurm(t)
	setUp(t)
	t.Setenv(childVariable, "1")
	login := []string{"-u", "sh", "-c", `hostname login && exec "$@"`, "sh", os.Args[0]}
	if out, err := exec.Command("unshare", append(login[:4:4], "sh", "true")...).CombinedOutput(); err != nil {
		t.Skipf("no machine of another name: unshare: %v: %s", err, out)
	}
	view, _ := opened(t)
	defer view.Process.Kill()
	run := filepath.Join("endless", "0001-cartpole-swingup-pgr-curiosity-s2", "run")
	eventually(t, "it trains", func() bool { return stepOf(t, run) > 0 && exists(filepath.Join(run, "attach.json")) })

	out, err := exec.Command("unshare", append(login, "checkpoint", run)...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "saved ") {
		t.Errorf("%v: %s", err, out)
	}
	p := sitDownAt(t, nil, "unshare", append(login, "attach", run)...)
	p.await("RETURN")
	p.press("q", "leave it training")
	p.press("d", "detached at step")
	if status := p.status(); status != 0 {
		t.Errorf("status %d", status)
	}
	before := stepOf(t, run)
	eventually(t, "it goes on", func() bool { return stepOf(t, run) > before })
	eventually(t, "no step is left of those that attached", func() bool { // Slurm takes a moment to end one
		steps, err := exec.Command("squeue", "-h", "-s", "-o", "%i").Output()
		return err == nil && strings.Count(string(steps), "\n") == strings.Count(string(steps), ".batch\n")
	})

	if out, err := onCluster(t, "sweep", "cancel", "endless"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	eventually(t, "it has ended", func() bool { return !exists(filepath.Join(run, "attach.json")) })
	gone := `{"host":"far","pid":7,"socket":"/x","slurm_job":"4000000"}`
	if err := os.WriteFile(filepath.Join(run, "attach.json"), []byte(gone), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := onCluster(t, "checkpoint", run); err == nil || !strings.Contains(out, "srun: error: ") || strings.Count(out, "\n") != 1 {
		t.Errorf("%v: %s", err, out)
	}
}
