package program

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"

	"pgrlab/tui/testing/pty"
)

// class is a run that is served over SSH, with clients of OpenSSH.
type class struct {
	*training
	server *person
	port   string
}

// openClass serves a run to alice, who drives, and bob.
func openClass(t *testing.T) *class {
	t.Helper()
	if _, err := exec.LookPath("ssh"); err != nil {
		t.Skip("ssh is not there: apt install openssh-client")
	}
	c := &class{training: startTraining(t)}
	t.Cleanup(c.stop)
	writeKeys(t, "keys")
	c.serve("serve", "--keys", "keys", "--ssh", "127.0.0.1:0", "--idle", "1h", c.dir) // this user may have other runs
	return c
}

// writeKeys makes the keys of alice, who may drive, of bob, who may watch, and of eve, whom the
// file does not mention.
func writeKeys(t *testing.T, file string) {
	t.Helper()
	var keys strings.Builder
	for _, name := range []string{"alice", "bob", "eve"} {
		public, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		block, err := ssh.MarshalPrivateKey(private, name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		key, err := ssh.NewPublicKey(public)
		if err != nil {
			t.Fatal(err)
		}
		line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))) + " " + name + "\n"
		switch name {
		case "alice":
			keys.WriteString("drive " + line)
		case "bob":
			keys.WriteString(line)
		}
	}
	if err := os.WriteFile(file, []byte(keys.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// serve starts the server.
func (c *class) serve(args ...string) {
	c.t.Helper()
	c.server = sitDown(c.t, nil, args...)
	c.server.await("host key SHA256:")
	c.server.mu.Lock()
	at := regexp.MustCompile(`serving at (\S+)`).FindSubmatch(c.server.text)
	c.server.mu.Unlock()
	_, port, err := net.SplitHostPort(string(at[1]))
	if err != nil {
		c.t.Fatal(err)
	}
	c.port = port
}

// options returns the options of a client that has only a key.
func (c *class) options(key string) []string {
	hosts, _ := filepath.Abs("known_hosts")
	return []string{"-F", "/dev/null", "-p", c.port, "-i", key, "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-o", "BatchMode=yes",
		"-o", "StrictHostKeyChecking=no", "-o", "LogLevel=ERROR", "-o", "UserKnownHostsFile=" + hosts}
}

// sits opens a screen over SSH.
func (c *class) sits(key string) *person {
	c.t.Helper()
	return sitDownAt(c.t, nil, "ssh", append(c.options(key), "-t", "anyone@127.0.0.1")...)
}

// says runs a command over SSH without a terminal.
func (c *class) says(key string, options []string, words ...string) (text string, status int) {
	c.t.Helper()
	command := exec.Command("ssh", slices.Concat(c.options(key), options, []string{"anyone@127.0.0.1"}, words)...)
	out, err := command.CombinedOutput()
	if err != nil && command.ProcessState == nil {
		c.t.Fatal(err)
	}
	return string(out), command.ProcessState.ExitCode()
}

// With real clients, strangers are refused, a watcher sees everything and changes nothing, and a
// driver drives. Neither a killed client nor the end of the server affects the run.
func TestAClassOverSSH(t *testing.T) {
	c := openClass(t)
	for key, options := range map[string][]string{"eve": nil, "bob": {"-o", "PubkeyAuthentication=no"}} {
		if text, status := c.says(key, options, "status"); status != 255 || !strings.Contains(text, "Permission denied") {
			t.Errorf("%s %v: status %d: %s", key, options, status, text)
		}
	}
	for _, script := range []struct {
		key    string
		words  []string
		status int
		want   string
	}{
		{"bob", []string{"status"}, 0, "running"},
		{"bob", []string{"status", "--json"}, 0, `"state": "running"`},
		{"bob", []string{"pause"}, 1, "pgrlab: pause: your key may watch, not drive"},
		{"bob", nil, 1, "a screen needs a terminal: ssh -t"},
		{"bob", []string{"rm", "-rf", "/"}, 1, "want the name of one run"},
		{"alice", []string{"checkpoint"}, 0, "saved"},
		{"alice", []string{"pause", "nowhere"}, 1, "nowhere: no run that is shown here"},
	} {
		text, status := c.says(script.key, nil, script.words...)
		if status != script.status || !strings.Contains(text, script.want) {
			t.Errorf("%s %q: status %d: %s", script.key, script.words, status, text)
		}
	}

	watcher := c.sits("bob")
	watcher.await("no one")
	driver := c.sits("alice")
	driver.await("RETURN")
	watcher.await("alice over ssh")
	driver.press(" ", "PAUSED")
	watcher.press(" ", "may look, not change anything") // now on a screen of its own
	if state := c.look().State; state != "paused" {
		t.Errorf("it is %s", state)
	}
	driver.press(" ", "RUN")
	if watcher.press("q", "detached at step"); watcher.status() != 0 {
		t.Errorf("who has left has status %d", watcher.status())
	}
	driver.command.Process.Kill()
	c.until("the killed client is gone", func() bool { return c.look().Screens == 0 })

	watchers := 4
	if os.Getenv("PGRLAB_SOAK") != "" {
		watchers = 30
	}
	var all []*person
	for range watchers {
		all = append(all, c.sits("bob"))
	}
	for _, p := range all {
		p.await("no one")
	}
	if screens := c.look().Screens; screens != 1 {
		t.Errorf("%d screens are drawn for %d that are alike", screens, watchers)
	}
	if err := pty.Resize(all[2].terminal, 100, 30); err != nil {
		t.Fatal(err)
	}
	c.until("another size has a drawing of its own", func() bool { return c.look().Screens == 2 })
	if err := pty.Resize(all[2].terminal, 160, 45); err != nil {
		t.Fatal(err)
	}
	c.until("they share again", func() bool { return c.look().Screens == 1 })
	all[0].stalls() // reads nothing from now on
	step := c.look().Step
	c.until("the run goes on", func() bool { return c.look().Step > step })
	all[1].forget()
	all[1].await("step ") // and so do the screens of the others
	c.server.terminal.WriteString("\x03")
	for _, p := range all[1:] {
		p.await("the server was ended; the run goes on")
		p.status()
	}
	c.server.terminal.WriteString("\x03") // does not wait for the one that reads nothing
	if status := c.server.status(); status != 130 {
		t.Errorf("the server ended with %d", status)
	}
	step = c.look().Step
	c.until("the run goes on without the server", func() bool { return c.look().Step > step })
}

// Viewers over SSH or by attach stay with a run when it is left by q d: the screens wait for
// the run's next process and go on there. When it ends they show its end until q.
func TestScreensStayWithTheRun(t *testing.T) {
	if _, err := exec.LookPath("ssh"); err != nil {
		t.Skip("ssh is not there: apt install openssh-client")
	}
	setUp(t)
	private(t)
	writeKeys(t, "keys")
	h := holdAt(t, 5, 20) // both processes of the run make more steps than that, and wait at this one
	owner := sitDown(t, append(colourless, h.setting), append([]string{"--out", "run"}, changing...)...)
	first := h.await()
	owner.await("KNOBS")
	c := &class{training: &training{t: t, dir: "run"}}
	c.serve("serve", "--keys", "keys", "--ssh", "127.0.0.1:0", "run")
	c.server.await("shows run ")
	viewers := map[string]*person{"bob": c.sits("bob"), "another bob": c.sits("bob"), "alice": c.sits("alice"), "attached": sitDown(t, colourless, "attach", "run")}
	lines := sitDown(t, nil, "attach", "run", "--plain")
	lines.await("one line per event")
	for _, p := range viewers {
		p.await("RETURN")
	}
	viewers["another bob"].press("?", "HELP") // has a screen of their own from now on
	viewers["another bob"].press("q", "RETURN")
	for _, p := range viewers {
		p.forget()
	}
	owner.press("q", "leave it training")
	owner.press("d", "saving")
	first.release()
	owner.await("pgrlab attach run")
	if status := owner.status(); status != 0 {
		t.Errorf("the owner's screen: status %d", status)
	}
	second := h.await()
	if second.pid == first.pid {
		t.Fatal("the run has not moved")
	}
	for _, p := range viewers {
		p.await("and this screen with it")
		p.await("RETURN")
	}
	c.until("the lines are with the new process too", func() bool { return c.look().Screens == len(viewers)+1 })
	for _, p := range viewers {
		p.forget()
	}
	second.release()
	ends(t, "run")
	for name, p := range viewers {
		p.await("the run has ended: q ")
		select {
		case <-p.ended:
			t.Errorf("%s is thrown out", name)
		default:
		}
	}
	lines.await("look again: pgrlab replay run")
	status := lines.status()
	<-lines.drained
	if n := strings.Count(string(lines.text), "  start  "); n != 1 || status != 0 {
		t.Errorf("lines: the beginning is written %d times; status %d", n, status)
	}
	for name, p := range viewers {
		last := "the run has ended"
		if name == "attached" {
			last = "look again: pgrlab replay run"
			p.press("q", "look on")
		}
		p.press("q", last)
		if status := p.status(); status != 0 {
			t.Errorf("%s left with status %d", name, status)
		}
	}
}

// A thousand clients come and go, some of them refused and some killed. The run continues to train,
// and the server is as it was.
func TestAThousandClientsOverSSH(t *testing.T) {
	if !soaking() {
		t.Skip("package sshd has the short form, TestNothingIsLeft: PGRLAB_SOAK=1")
	}
	c := openClass(t)
	held := func() int {
		open, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", c.server.command.Process.Pid))
		return len(open)
	}
	c.says("bob", nil, "status")
	before, step := held(), c.look().Step
	for range 10 {
		var coming sync.WaitGroup
		for i := range 100 {
			if i%10 == 9 { // a screen with a client that is killed
				p := c.sits("bob")
				p.await("no one")
				p.command.Process.Kill()
				continue
			}
			if coming.Go(func() {
				command := exec.Command("ssh", append(c.options("bob"), "anyone@127.0.0.1", "status")...)
				if out, err := command.CombinedOutput(); err != nil || !strings.Contains(string(out), "running") {
					t.Errorf("%v: %s", err, out)
				}
			}); i%4 == 3 {
				coming.Wait()
			}
		}
		coming.Wait()
	}
	if text, status := c.says("bob", []string{"-o", "PubkeyAuthentication=no"}, "status"); status != 255 {
		t.Errorf("status %d: %s", status, text)
	}
	c.until("no screen is left", func() bool { return c.look().Screens == 0 && held() <= before })
	if now := c.look(); now.Step <= step || now.State != "running" {
		t.Errorf("from step %d it came to %d, %s", step, now.Step, now.State)
	}
}
