package program

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killNode kills a node's daemon and all that it runs, as if its machine were gone.
func killNode(t *testing.T, node string) {
	t.Helper()
	killDaemon(t, "slurmd-"+node)
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	killed := 0
	for _, pid := range withVariable("SLURMD_NODENAME=" + node) {
		if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); !bytes.Contains(line, []byte(wd)) {
			continue
		}
		if parent := parentOf(t, pid); parent > 1 { // it would say how the job ended
			syscall.Kill(parent, syscall.SIGKILL)
		}
		syscall.Kill(pid, syscall.SIGKILL)
		killed++
	}
	if killed == 0 {
		t.Fatalf("nothing ran on %s", node)
	}
}

// parentOf is the process that began another one.
func parentOf(t *testing.T, pid int) (parent int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Sscanf(string(text[bytes.LastIndexByte(text, ')')+1:]), " %s %d", new(string), &parent)
	return parent
}

// killDaemon kills a daemon by its name, without a warning.
func killDaemon(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(os.Getenv("SLURM_CONF")), name+".pid"))
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	fmt.Sscan(string(text), &pid)
	syscall.Kill(pid, syscall.SIGKILL)
}

// remembered waits until the controller has written what it knows: one that dies before has
// forgotten that jobs began, and begins them again.
func remembered(t *testing.T, job string) {
	t.Helper()
	now := time.Now()
	if out, err := exec.Command("scontrol", "update", "job="+job, "comment=seen").CombinedOutput(); err != nil { // something new to write
		t.Fatalf("%v: %s", err, out)
	}
	state := filepath.Join(filepath.Dir(os.Getenv("SLURM_CONF")), "ctld", "job_state")
	eventually(t, "the controller writes its state", func() bool {
		info, err := os.Stat(state)
		return err == nil && info.ModTime().After(now)
	})
}

// A node that dies gives its job back, which goes on elsewhere where it was saved last; a
// controller that dies and comes back is nothing to the jobs, and the view says that it does
// not answer. It takes minutes: PGRLAB_SLURM=slow.
func TestWhatDiesOnSlurm(t *testing.T) {
	if os.Getenv(slurmVariable) != "slow" {
		t.Skip("PGRLAB_SLURM=slow make slurm tests this")
	}
	startSlurm(t)
	setUp(t)
	t.Setenv(childVariable, "1")
	view, said := opened(t, "--sbatch", "--exclusive") // a job on each node
	defer view.Process.Kill()
	job := func(n int) string {
		return filepath.Join("endless", fmt.Sprintf("000%d-cartpole-swingup-pgr-curiosity-s%d", n, n+1))
	}
	trains := func(n int) {
		t.Helper()
		run := filepath.Join(job(n), "run")
		before := stepOf(t, run)
		eventually(t, job(n)+" makes steps", func() bool { return stepOf(t, run) > before })
	}
	trains(0)
	trains(1)
	if out, err := exec.Command("scancel", "--signal=USR1", "-b", submitted(t, "endless")[0]).CombinedOutput(); err != nil { // save
		t.Fatalf("%v: %s", err, out)
	}
	conf := os.Getenv("SLURM_CONF")
	remembered(t, submitted(t, "endless")[0])

	killDaemon(t, "slurmctld")
	eventually(t, "the view says that the controller is gone", func() bool { return strings.Contains(said(), "squeue") })
	trains(0)
	trains(1)
	if out, err := exec.Command("slurmctld", "-f", conf).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	eventually(t, "the controller knows the jobs again", func() bool {
		out, err := exec.Command("squeue", "-h", "-t", "R").Output()
		return err == nil && strings.Count(string(out), "\n") == 2
	})

	out, err := exec.Command("squeue", "-h", "-r", "-o", "%K|%N").Output()
	if err != nil {
		t.Fatal(err)
	}
	on := map[string]int{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(line, "|")
		on[strings.TrimSpace(f[1])], _ = strconv.Atoi(f[0])
	}
	if len(on) != 2 {
		t.Fatalf("they run on one node: %q", out)
	}
	dies, lives := on["n2"], on["n1"]
	killNode(t, "n2")
	trains(lives)
	if out, err := exec.Command("slurmd", "-f", conf, "-N", "n2").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	eventually(t, "the job of the dead node is tried again", func() bool { return exists(filepath.Join(job(dies), "attempts", "2", "log")) })
	trains(dies)
	if text, err := os.ReadFile(filepath.Join(job(dies), "run", "events.jsonl")); err != nil || !strings.Contains(string(text), `"type":"resume"`) {
		t.Errorf("%v: it began anew", err)
	}
	if ids := submitted(t, "endless"); len(ids) != 1 {
		t.Errorf("submitted %v", ids)
	}
}
