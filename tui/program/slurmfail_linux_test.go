package program

import (
	"bytes"
	"encoding/json"
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

// killNode kills a node's daemon and everything that it runs, as if its machine were gone.
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
		if parent := parentOf(t, pid); parent > 1 { // it would report how the job ended
			syscall.Kill(parent, syscall.SIGKILL)
		}
		syscall.Kill(pid, syscall.SIGKILL)
		killed++
	}
	if killed == 0 {
		t.Fatalf("nothing ran on %s", node)
	}
}

// parentOf returns the process that started another one.
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

// remembered waits until the controller has written its state: a controller that dies before that
// has forgotten that jobs began, and begins them again.
func remembered(t *testing.T, job string) {
	t.Helper()
	now := time.Now()
	if out, err := exec.Command("scontrol", "update", "job="+job, "comment=seen").CombinedOutput(); err != nil { // gives the controller something new to write
		t.Fatalf("%v: %s", err, out)
	}
	state := filepath.Join(filepath.Dir(os.Getenv("SLURM_CONF")), "ctld", "job_state")
	eventually(t, "the controller writes its state", func() bool {
		info, err := os.Stat(state)
		return err == nil && info.ModTime().After(now)
	})
}

// The job of a node that dies is queued again and continues elsewhere from its last checkpoint. A
// controller that dies and comes back does not affect the jobs, and meanwhile the view says that it
// does not answer. The test takes minutes: PGRLAB_SLURM=slow.
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
	if out, err := exec.Command("scancel", "--signal=USR1", "-b", submitted(t, "endless")[0]).CombinedOutput(); err != nil { // saves the jobs
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
	eventually(t, "the controller has the jobs again", func() bool {
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
		t.Errorf("%v: it began again", err)
	}
	if ids := submitted(t, "endless"); len(ids) != 1 {
		t.Errorf("submitted %v", ids)
	}
}

// A job whose node another job needs, or whose time is nearly over, saves itself and continues
// later where it was. A job whose process is killed leaves the queue, which the view reports, and
// continues on request. The test takes minutes: PGRLAB_SLURM=slow.
func TestWarningsAndAKilledWorkerOnSlurm(t *testing.T) {
	if os.Getenv(slurmVariable) != "slow" {
		t.Skip("PGRLAB_SLURM=slow make slurm tests this")
	}
	startSlurm(t)
	setUp(t)
	t.Setenv(childVariable, "1")
	view, said := opened(t, "--sbatch", "--time=3", "--sbatch", "--exclusive") // the jobs are warned within the first minute
	defer view.Process.Kill()
	dirs := []string{filepath.Join("endless", "0000-cartpole-swingup-pgr-curiosity-s1"), filepath.Join("endless", "0001-cartpole-swingup-pgr-curiosity-s2")}
	trains := func(dir string) {
		t.Helper()
		before := stepOf(t, filepath.Join(dir, "run"))
		eventually(t, dir+" makes steps", func() bool { return stepOf(t, filepath.Join(dir, "run")) > before })
	}
	goesOn := func(dir string, attempt int, why string) {
		t.Helper()
		before := stepOf(t, filepath.Join(dir, "run"))
		eventually(t, dir+" is tried again: "+why, func() bool { return exists(filepath.Join(dir, "attempts", strconv.Itoa(attempt), "log")) })
		if text, _ := os.ReadFile(filepath.Join(dir, "attempts", strconv.Itoa(attempt-1), "attempt.json")); why != "killed" && !strings.Contains(string(text), "run me again") {
			t.Errorf("%s: the attempt before ended with %s", why, text)
		}
		eventually(t, dir+" comes further than step "+strconv.Itoa(before), func() bool { return stepOf(t, filepath.Join(dir, "run")) > before })
	}
	for _, dir := range dirs {
		trains(dir)
	}
	for _, dir := range dirs {
		goesOn(dir, 2, "its time was nearly over")
	}
	if out, err := onCluster(t, "sweep", "cancel", "endless"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	eventually(t, "the view says that they have left", func() bool { return strings.Contains(said(), "left the queue without a result") })
	view.Wait()

	again, said := opened(t, "--sbatch", "--exclusive")
	defer again.Process.Kill()
	last := map[string]int{}
	for _, dir := range dirs {
		trains(dir)
		all, _ := os.ReadDir(filepath.Join(dir, "attempts"))
		last[dir] = len(all)
	}
	urgent := exec.Command("srun", "--partition=urgent", "--nodes=2", "--exclusive", "true")
	if out, err := urgent.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, dir := range dirs {
		last[dir]++
		goesOn(dir, last[dir], "another job wanted its node")
	}

	process := notice(t, filepath.Join(dirs[0], "run"))
	syscall.Kill(process, syscall.SIGKILL)
	eventually(t, "the view says it", func() bool {
		return strings.Contains(said(), filepath.Base(dirs[0])+": left the queue without a result")
	})
	if out, err := onCluster(t, "sweep", "requeue", "endless", "--sbatch", "--exclusive"); err != nil || !strings.Contains(out, "1 jobs are submitted as array") {
		t.Errorf("%v: %s", err, out)
	}
	goesOn(dirs[0], last[dirs[0]]+1, "killed")
	if all, _ := os.ReadDir(filepath.Join(dirs[1], "attempts")); len(all) != last[dirs[1]] {
		t.Errorf("the other one has %d attempts, had %d", len(all), last[dirs[1]])
	}
}

// notice returns the process that trains in a run folder.
func notice(t *testing.T, dir string) int {
	t.Helper()
	var n struct{ PID int }
	text, err := os.ReadFile(filepath.Join(dir, "attach.json"))
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	if err != nil || n.PID == 0 {
		t.Fatalf("%v: %s", err, text)
	}
	return n.PID
}
