package program

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/template"
	"time"

	"pgrlab/core/run"
)

// slurmVariable requests the tests that need Slurm's daemons: make slurm.
const slurmVariable = "PGRLAB_SLURM"

// slurmConf describes a cluster of two nodes on this machine, without control groups, accounting or
// systemd.
var slurmConf = template.Must(template.New("").Parse(`ClusterName=lab
SlurmctldHost={{.Host}}
SlurmUser=root
SlurmctldPort={{.Port}}
AuthType=auth/munge
AuthInfo=cred_expire=10
CryptoType=crypto/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0
SlurmctldParameters=preempt_send_user_signal
SlurmctldTimeout=30
SlurmdTimeout=15
InactiveLimit=0
KillWait=60
MinJobAge=3600
JobRequeue=1
AccountingStorageType=accounting_storage/none
StateSaveLocation={{.Dir}}/ctld
SlurmdSpoolDir={{.Dir}}/%n
SlurmctldPidFile={{.Dir}}/slurmctld.pid
SlurmdPidFile={{.Dir}}/slurmd-%n.pid
SlurmctldLogFile={{.Dir}}/slurmctld.log
SlurmdLogFile={{.Dir}}/slurmd-%n.log
NodeName=n1 NodeHostname={{.Host}} NodeAddr=127.0.0.1 Port={{.Port1}} CPUs=2 RealMemory=2000 State=UNKNOWN
NodeName=n2 NodeHostname={{.Host}} NodeAddr=127.0.0.1 Port={{.Port2}} CPUs=2 RealMemory=2000 State=UNKNOWN
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE GraceTime=60 State=UP
PartitionName=urgent Nodes=n1,n2 MaxTime=INFINITE PriorityTier=10 State=UP
`))

// startSlurm starts a cluster of two nodes on this machine, and stops it at the end of the test. These
// tests are run only where Slurm is wanted: where it does not start, they fail.
func startSlurm(t *testing.T) {
	t.Helper()
	if os.Getenv(slurmVariable) == "" {
		t.Skip("make slurm tests this")
	}
	for _, daemon := range []string{"munged", "slurmctld", "slurmd", "sbatch"} {
		if _, err := exec.LookPath(daemon); err != nil {
			t.Fatalf("%s is not there: apt install slurm-wlm munge", daemon)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("Slurm's daemons want root here")
	}
	dir := t.TempDir()
	host, _ := os.Hostname()
	host, _, _ = strings.Cut(host, ".")
	var conf bytes.Buffer
	if err := slurmConf.Execute(&conf, map[string]any{"Host": host, "Dir": dir, "Port": freePort(t), "Port1": freePort(t), "Port2": freePort(t)}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "slurm.conf")
	if err := os.WriteFile(file, conf.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"ctld", "n1", "n2"} {
		os.Mkdir(filepath.Join(dir, sub), 0o755)
	}
	t.Setenv("SLURM_CONF", file)
	shell := func(script string) {
		t.Helper()
		if out, err := exec.Command("bash", "-c", script).CombinedOutput(); err != nil {
			t.Fatalf("Slurm does not start here: %s: %v: %s", script, err, out)
		}
	}
	shell("install -d -o munge -g munge -m 0755 /run/munge && (munge -n | unmunge >/dev/null 2>&1 || runuser -u munge -- /usr/sbin/munged)")
	eventually(t, "munge answers", func() bool { return exec.Command("bash", "-c", "munge -n | unmunge").Run() == nil })
	t.Cleanup(func() { // after a test that failed, jobs still train
		if t.Failed() {
			queue, _ := exec.Command("squeue", "-r", "-t", "all", "-O", "ArrayTaskID,State,Reason,RestartCnt").CombinedOutput()
			t.Logf("the queue:\n%s", queue)
			for _, daemon := range []string{"slurmctld", "slurmd-n1", "slurmd-n2"} {
				text, _ := os.ReadFile(filepath.Join(dir, daemon+".log"))
				t.Logf("the end of %s.log:\n%s", daemon, text[max(0, len(text)-4000):])
			}
		}
		for _, pid := range withVariable("SLURM_CONF=" + file) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	shell("slurmctld -f " + file + " && slurmd -f " + file + " -N n1 && slurmd -f " + file + " -N n2")
	eventually(t, "both nodes are idle", func() bool {
		out, _ := exec.Command("sinfo", "-h", "-o", "%T").Output()
		return strings.TrimSpace(string(out)) == "idle"
	})
}

// withVariable returns the other processes that were started with an environment variable.
func withVariable(variable string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range all {
		environ, _ := os.ReadFile(file) // processes that have just ended have none
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && pid != os.Getpid() && slices.Contains(strings.Split(string(environ), "\x00"), variable) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// clusterSweep is the sweep of these tests, with two methods and two seeds.
var clusterSweep = []string{"sweep", "--preset", "tiny.toml", "--method", "synther,pgr-curiosity", "--seeds", "1-2", "--device", "cpu"}

// onCluster runs a command line of the program in a process of its own.
func onCluster(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	c := exec.CommandContext(ctx, os.Args[0], args...)
	c.Env = append(os.Environ(), childVariable+"=1")
	out, err := c.CombinedOutput()
	return string(out), err
}

// A sweep on a cluster ends with the same journals as a sweep on this machine, even if two runs
// share a job.
func TestASweepOnSlurm(t *testing.T) {
	startSlurm(t)
	setUp(t)
	t.Setenv(childVariable, "1") // the script's program is this test acting as the program
	if out, err := onCluster(t, append(clusterSweep, "--out", "here")...); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := onCluster(t, append(clusterSweep, "--out", "there", "--on", "slurm", "--sbatch", "--time=10")...)
	if err != nil || !strings.Contains(out, "4 jobs are submitted as array") || !strings.Contains(out, "4 of 4 done") {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := onCluster(t, append(clusterSweep, "--out", "shared", "--on", "slurm", "--runs-per-job", "2")...); err != nil || !strings.Contains(out, "4 jobs are submitted as array") || !strings.Contains(out, "4 of 4 done") {
		t.Fatalf("%v: %s", err, out)
	}
	if logs, _ := filepath.Glob("shared/slurm-*_*.log"); len(logs) != 2 {
		t.Errorf("two runs a job leave %d logs of 4 runs", len(logs))
	}
	for _, job := range []string{"0000-cartpole-swingup-synther-s1", "0001-cartpole-swingup-synther-s2", "0002-cartpole-swingup-pgr-curiosity-s1", "0003-cartpole-swingup-pgr-curiosity-s2"} {
		if canonical(t, filepath.Join("here", job, "run")) != canonical(t, filepath.Join("there", job, "run")) {
			t.Errorf("%s: another journal", job)
		}
		if canonical(t, filepath.Join("here", job, "run")) != canonical(t, filepath.Join("shared", job, "run")) {
			t.Errorf("%s beside another run: another journal", job)
		}
	}
	// A second call finds nothing to do and submits nothing.
	if out, err := onCluster(t, append(clusterSweep, "--out", "there", "--on", "slurm")...); err != nil || strings.Contains(out, "submitted") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := onCluster(t, "sweep", "status", "there"); err != nil || !strings.Contains(out, "4 of 4 done") {
		t.Errorf("%v: %s", err, out)
	}
}

// endless is a sweep of two jobs that do not end within a test.
var endless = []string{"sweep", "--preset", "tiny.toml", "--method", "pgr-curiosity", "--seeds", "1-2", "--steps", "10000000", "--device", "cpu", "--out", "endless", "--on", "slurm"}

// submitted returns the ids of the job arrays that were submitted for a sweep.
func submitted(t *testing.T, dir string) (ids []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "slurm.json"))
	if err != nil {
		return nil
	}
	var all []struct{ ID string }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		ids = append(ids, s.ID)
	}
	return ids
}

// The jobs do not depend on the view: a view that was killed and is opened again finds them and
// submits nothing twice. A job that is warned saves itself, queues again and continues where it
// was. Jobs that are poked save themselves and train on; jobs that are cancelled save themselves,
// and continue when the sweep is queued again.
func TestViewsWarningsAndCancelOnSlurm(t *testing.T) {
	startSlurm(t)
	setUp(t)
	t.Setenv(childVariable, "1")
	view, _ := opened(t)
	first := filepath.Join("endless", "0000-cartpole-swingup-pgr-curiosity-s1", "run")
	second := filepath.Join("endless", "0001-cartpole-swingup-pgr-curiosity-s2", "run")
	trains := func(dir string) {
		t.Helper()
		before := stepOf(t, dir)
		eventually(t, dir+" makes steps", func() bool { return stepOf(t, dir) > before })
	}
	trains(first)
	trains(second)
	view.Process.Kill()
	view.Wait()
	again, said := opened(t)
	eventually(t, "the view finds the jobs", func() bool { return strings.Contains(said(), "2 jobs are queued or run already") })
	again.Process.Signal(syscall.SIGINT)
	if err := again.Wait(); again.ProcessState.ExitCode() != 130 || !strings.Contains(said(), "the jobs go on without this view") {
		t.Errorf("%v: %s", err, said())
	}
	ids := submitted(t, "endless")
	if len(ids) != 1 {
		t.Fatalf("submitted %v", ids)
	}

	if out, err := exec.Command("scancel", "--signal=USR2", "-b", ids[0]+"_0").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	attempts := filepath.Join(filepath.Dir(first), "attempts")
	eventually(t, "a second attempt", func() bool { return exists(filepath.Join(attempts, "2", "log")) })
	trains(first)
	if text, _ := os.ReadFile(filepath.Join(attempts, "1", "attempt.json")); !strings.Contains(string(text), "run me again") {
		t.Errorf("the first attempt ended with %s", text)
	}

	if out, err := onCluster(t, "sweep", "poke", "endless"); err != nil || !strings.Contains(out, "2 jobs save themselves") {
		t.Errorf("%v: %s", err, out)
	}
	eventually(t, "the second saves itself and goes on", func() bool {
		saved, _ := filepath.Glob(filepath.Join(second, "checkpoints", "*.ckpt"))
		return len(saved) > 0 && !exists(filepath.Join(filepath.Dir(second), "attempts", "1", "attempt.json"))
	})
	if out, err := onCluster(t, "sweep", "cancel", "endless"); err != nil || !strings.Contains(out, "2 jobs are cancelled") {
		t.Errorf("%v: %s", err, out)
	}
	eventually(t, "both have saved themselves", func() bool {
		return exists(filepath.Join(attempts, "2", "attempt.json")) && exists(filepath.Join(filepath.Dir(second), "attempts", "1", "attempt.json"))
	})
	step := stepOf(t, second)
	if out, err := onCluster(t, "sweep", "requeue", "endless", "--sbatch", "--exclusive"); err != nil || !strings.Contains(out, "2 jobs are submitted as array") {
		t.Errorf("%v: %s", err, out)
	}
	eventually(t, "they go on", func() bool { return stepOf(t, second) > step })
	if out, err := exec.Command("squeue", "-h", "-r", "-t", "R", "-o", "%h").Output(); err != nil || strings.TrimSpace(strings.ReplaceAll(string(out), "NO", "")) != "" {
		t.Errorf("%v: they share their nodes: %s", err, out)
	}
	if out, err := onCluster(t, "sweep", "cancel", "endless"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	eventually(t, "all have ended", func() bool {
		return exists(filepath.Join(attempts, "3", "attempt.json")) && exists(filepath.Join(filepath.Dir(second), "attempts", "2", "attempt.json"))
	})
}

// opened begins the endless sweep, or opens the view of it; said returns its output so far.
func opened(t *testing.T, more ...string) (c *exec.Cmd, said func() string) {
	t.Helper()
	log, err := os.CreateTemp("", "view")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	t.Cleanup(func() { os.Remove(log.Name()) })
	c, _ = child(t, slices.Concat(endless, more)...)
	c.Stderr = log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, func() string {
		text, _ := os.ReadFile(log.Name())
		return string(text)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// stepOf returns the last step that a run's journal names; 0 before there is one.
func stepOf(t *testing.T, dir string) (step int) {
	t.Helper()
	text, _ := os.ReadFile(filepath.Join(dir, run.JournalName))
	for line := range bytes.Lines(text) {
		var l struct{ Step int }
		if json.Unmarshal(line, &l) == nil {
			step = max(step, l.Step)
		}
	}
	return step
}
