package program

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/sweep"
)

// hostVariable distinguishes the processes of the hosts, all of which are this machine.
const hostVariable = "PGRLAB_TEST_HOST"

// startHosts starts a server of OpenSSH for each name. It returns the option by which the client
// finds them, and a function that ends a host with everything that it runs, as if its machine
// were gone. more has further lines of a server's configuration, by name.
func startHosts(t *testing.T, names []string, more map[string]string) (option string, kill func(name string) int) {
	t.Helper()
	sshd := "/usr/sbin/sshd"
	for _, program := range []string{sshd, "ssh", "ssh-keygen"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not there: apt install openssh-server openssh-client", program)
		}
	}
	dir := t.TempDir()
	for _, key := range []string{"host", "me"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if os.Getuid() == 0 {
		os.MkdirAll("/run/sshd", 0o755) // root's server separates its privileges in this folder
	}
	runtime := t.TempDir()
	client := fmt.Sprintf("Host *\n HostName 127.0.0.1\n IdentityFile %[1]s/me\n IdentitiesOnly yes\n IdentityAgent none\n StrictHostKeyChecking no\n UserKnownHostsFile %[1]s/known\n LogLevel ERROR\n", dir)
	ports, servers := map[string]int{}, map[string]*os.Process{}
	kill = func(name string) int {
		servers[name].Kill()
		return killHost(name)
	}
	for _, name := range names {
		ports[name] = freePort(t)
		conf := fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %[2]s/host\nAuthorizedKeysFile %[2]s/me.pub\nPidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nSetEnv %s=1 %s=%s XDG_RUNTIME_DIR=%s\n%s\n",
			ports[name], dir, childVariable, hostVariable, name, runtime, more[name])
		file := filepath.Join(dir, name+".conf")
		if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
			t.Fatal(err)
		}
		server := exec.Command(sshd, "-D", "-e", "-f", file)
		log := filepath.Join(dir, name+".log")
		out, err := os.Create(log)
		if err != nil {
			t.Fatal(err)
		}
		server.Stderr = out
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		out.Close()
		servers[name] = server.Process
		ended := make(chan error, 1)
		go func() { ended <- server.Wait() }()
		t.Cleanup(func() { kill(name) })
		eventually(t, "the server listens", func() bool {
			text, _ := os.ReadFile(log)
			select {
			case err := <-ended:
				t.Fatalf("sshd does not run here: %v: %s", err, text)
			default:
			}
			return strings.Contains(string(text), "Server listening")
		})
	}
	hosts := ""
	for name, port := range ports {
		hosts += fmt.Sprintf("Host %s\n Port %d\n", name, port)
	}
	hosts += fmt.Sprintf("Host nowhere\n Port %d\n", freePort(t))
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(hosts+client), 0o600); err != nil {
		t.Fatal(err)
	}
	return "-F" + file, kill
}

// killHost kills everything that a host's server has started.
func killHost(name string) (killed int) {
	for {
		pids := withVariable(hostVariable + "=" + name)
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		if len(pids) == 0 {
			return killed
		}
		killed += len(pids)
	}
}

// Two hosts do one job each, with the journals of runs on this machine; with a host that cannot be
// reached nothing begins. The long forms follow, with all faults that a host can have and with
// hosts that die.
func TestAShortSweepOverSSH(t *testing.T) {
	d := setUp(t)
	option, _ := startHosts(t, []string{"a", "b"}, nil)
	args := []string{"sweep", "--preset", "tiny.toml", "--method", "sac", "--seeds", "1-2", "--steps", "60", "--device", "cpu", "--out", "there", "--ssh", option}
	out, err := onCluster(t, append(args, "--on", "ssh:a,nowhere")...)
	if err == nil || !strings.Contains(out, "nowhere: ssh: connect to host 127.0.0.1") || !strings.Contains(out, "1 of 2 hosts cannot take part") || exists("there/ssh.json") {
		t.Fatalf("it began: %v: %s", err, out)
	}
	out, err = onCluster(t, append(args, "--on", "ssh:a:1,b:1")...)
	if err != nil || !strings.Contains(out, "a: began") || !strings.Contains(out, "b: began") || !strings.Contains(out, "2 of 2 done") {
		t.Fatalf("%v: %s", err, out)
	}
	g, err := sweep.Open("there")
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range g.Jobs {
		var stderr bytes.Buffer
		if status, _ := pgrlab(t, d, &stderr, "train", "--preset", g.Config(j), "--out", j.Name()); status != 0 {
			t.Fatalf("status %d: %s", status, stderr.String())
		}
		if canonical(t, j.Name()) != canonical(t, g.Run(j)) {
			t.Errorf("%s: another journal", j.Name())
		}
		if r, _ := g.Result(j); r.Attempts != 1 {
			t.Errorf("%s: %d attempts", j.Name(), r.Attempts)
		}
	}
}

// A sweep on hosts ends with the journals of a sweep on this machine, and hosts that cannot take
// part are reported before anything begins.
func TestASweepOverSSH(t *testing.T) {
	if !soaking() {
		t.Skip("the short form is TestAShortSweepOverSSH: PGRLAB_SOAK=1")
	}
	setUp(t)
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	option, _ := startHosts(t, []string{"a", "b", "apart", "old"}, map[string]string{
		// One host has another disk at the same place, one has another build.
		"apart": fmt.Sprintf(`ForceCommand eval "$(echo "$SSH_ORIGINAL_COMMAND" | sed s#%s/there#%s/copy#)"`, wd, wd),
		"old":   `ForceCommand echo '{"text":"x","build":"x"}'`,
	})
	if out, err := onCluster(t, append(clusterSweep, "--out", "here")...); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	there := append(clusterSweep, "--out", "there", "--ssh", option)
	out, err := onCluster(t, append(there, "--on", "ssh:a,nowhere,apart,old")...)
	if err == nil {
		t.Errorf("it began: %s", out)
	}
	for _, line := range []string{"nowhere: ssh: connect to host 127.0.0.1", "apart: it does not see the sweep's folder", "there is another build of pgrlab", "3 of 4 hosts cannot take part"} {
		if strings.Count(out, line) != 1 {
			t.Errorf("%q is not there once: %s", line, out)
		}
	}
	if strings.Contains(out, "began") || exists("there/ssh.json") {
		t.Errorf("something began: %s", out)
	}
	out, err = onCluster(t, append(there, "--on", "ssh:a:1,b:1")...)
	if err != nil || !strings.Contains(out, "a: began") || !strings.Contains(out, "b: began") || !strings.Contains(out, "4 of 4 done") {
		t.Fatalf("%v: %s", err, out)
	}
	g, err := sweep.Open("there")
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range g.Jobs {
		if canonical(t, filepath.Join("here", j.Name(), "run")) != canonical(t, g.Run(j)) {
			t.Errorf("%s: another journal", j.Name())
		}
		if r, _ := g.Result(j); r.Attempts != 1 {
			t.Errorf("%s: %d attempts", j.Name(), r.Attempts)
		}
	}
	if out, err := onCluster(t, append(there, "--on", "ssh:nowhere")...); err != nil || !strings.Contains(out, "4 of 4 done") {
		t.Errorf("a sweep that is done asks hosts: %v: %s", err, out)
	}
	if out, err := onCluster(t, "sweep", "status", "there"); err != nil || !strings.Contains(out, "4 of 4 done") {
		t.Errorf("%v: %s", err, out)
	}
}

// The workers do not depend on the view: a view that was killed and is opened again finds them. The
// work of a host that dies continues elsewhere from its last checkpoint; cancelled jobs save
// themselves.
func TestWhatDiesOverSSH(t *testing.T) {
	if !soaking() {
		t.Skip("the short form is TestAShortSweepOverSSH: PGRLAB_SOAK=1")
	}
	setUp(t)
	option, kill := startHosts(t, []string{"a", "b", "c"}, nil)
	args := []string{"sweep", "--preset", "tiny.toml", "--method", "sac", "--seeds", "1-2", "--steps", "10000000", "--device", "cpu", "--out", "endless", "--jobs", "1", "--on", "ssh:a,b,c", "--ssh", option}
	view, said := child(t, args...)
	if err := view.Start(); err != nil {
		t.Fatal(err)
	}
	var g *sweep.Grid
	eventually(t, "there is a sweep", func() (is bool) { made, err := sweep.Open("endless"); g = made; return err == nil })
	trains := func(j sweep.Job) {
		t.Helper()
		before := stepOf(t, g.Run(j))
		eventually(t, j.Name()+" makes steps", func() bool { return stepOf(t, g.Run(j)) > before })
	}
	trains(g.Jobs[0])
	trains(g.Jobs[1])
	eventually(t, "three workers", func() bool { return len(g.Workers()) == 3 })
	view.Process.Kill()
	view.Wait()
	again, _ := child(t, args...)
	log, err := os.Create("view.log")
	if err != nil {
		t.Fatal(err)
	}
	again.Stderr = log
	if err := again.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the view finds the workers", func() bool {
		text, _ := os.ReadFile("view.log")
		return strings.Count(string(text), "is at work already") == 3
	})
	again.Process.Signal(syscall.SIGINT)
	if again.Wait(); again.ProcessState.ExitCode() != 130 {
		text, _ := os.ReadFile("view.log")
		t.Errorf("status %d: %s", again.ProcessState.ExitCode(), text)
	}
	if out, err := onCluster(t, "sweep", "poke", "endless"); err != nil || !strings.Contains(out, "2 jobs save themselves") {
		t.Errorf("%v: %s%s", err, out, said)
	}
	eventually(t, "both are saved", func() bool {
		return latestCheckpoint(g.Run(g.Jobs[0])) != "" && latestCheckpoint(g.Run(g.Jobs[1])) != ""
	})

	dies := ""
	eventually(t, "a worker says what it does", func() bool {
		for _, w := range g.Workers() {
			if len(w.Running) == 1 && w.Running[0] == 0 {
				dies = w.Name
			}
		}
		return dies != ""
	})
	if kill(dies) == 0 {
		t.Fatalf("nothing ran on %s", dies)
	}
	attempts := filepath.Join(g.Dir(g.Jobs[0]), "attempts")
	eventually(t, "its job is tried elsewhere", func() bool { return exists(filepath.Join(attempts, "2", "log")) })
	eventually(t, "and goes on where it was saved", func() bool {
		text, err := os.ReadFile(filepath.Join(g.Run(g.Jobs[0]), "events.jsonl"))
		return err == nil && strings.Contains(string(text), `"type":"resume"`)
	})
	trains(g.Jobs[0])
	if exists(filepath.Join(g.Dir(g.Jobs[1]), "attempts", "2")) {
		t.Error("the other job was disturbed")
	}
	out, err := onCluster(t, "sweep", "cancel", "endless", "--ssh", option)
	if err == nil || !strings.Contains(out, "2 workers save") || !strings.Contains(out, dies+": ssh: ") {
		t.Errorf("%v: %s", err, out)
	}
	eventually(t, "the others have ended", func() bool {
		ended := 0
		for _, w := range g.Workers() {
			if w.Ended != "" {
				ended++
			}
		}
		return ended == 2
	})
	for _, j := range g.Jobs {
		if g.IsHeld(j) {
			t.Errorf("%s is still held", j.Name())
		}
	}
}
