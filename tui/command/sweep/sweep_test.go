package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgrlab/core/sweep"
	"pgrlab/core/sweep/ssh"
	"pgrlab/tui/testing/commandtest"
)

// made is a grid of two jobs without a result.
func made(t *testing.T) *sweep.Grid {
	t.Helper()
	g, err := sweep.Create(filepath.Join(t.TempDir(), "s"), []sweep.Job{{Task: "t", Method: "m", Steps: 9}, {Index: 1, Task: "t", Method: "m", Seed: 1, Steps: 9}}, [][]byte{nil, nil})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// ends writes the result of a job.
func ends(t *testing.T, g *sweep.Grid, j sweep.Job) {
	t.Helper()
	text, err := json.Marshal(sweep.Result{Job: j, Attempts: 1})
	if err == nil {
		err = g.Folder().Replace(filepath.Join(j.Name(), "result.json"), text)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Flags that cannot have an effect on a sweep that exists are refused; others let it continue.
func TestFlagsThatTheGridHasNoUseFor(t *testing.T) {
	g := made(t)
	dir := filepath.Dir(g.Dir(g.Jobs[0]))
	for name, refused := range map[string]bool{"seeds": true, "scale": true, "steps": true, "observation": true, "tv": true, "set": true, "vary": true, "at": true,
		"jobs": false, "threads": false, "device": false, "results": false} {
		f := sweepFlags{out: dir, changed: func(is string) bool { return is == name }}
		_, err := f.grid(commandtest.Deps(), io.Discard)
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "leave out --"+name+",") {
			t.Errorf("--%s: %v", name, err)
		}
	}
}

// A device that is given for a sweep that exists is that of all its jobs from then on, wherever they
// run; without one the grid's stays.
func TestTheDeviceOfAGridThatExists(t *testing.T) {
	g := made(t)
	dir := filepath.Dir(g.Dir(g.Jobs[0]))
	for _, c := range []struct {
		device string // given on the command line; empty: none is
		own    string // device that the engine has chosen for a job
		want   []string
	}{
		{"", "", nil},
		{"cpu", "", []string{"--device", "cpu"}},
		{"auto", "", []string{"--device", "auto"}},
		{"cuda", "", []string{"--device", "cuda"}},
		{"cuda:0,cuda:1", "cuda:1", []string{"--device", "cuda:1"}},
	} {
		f := sweepFlags{out: dir, on: onHere, device: c.device, threads: 1, changed: func(is string) bool { return is == "device" && c.device != "" }}
		err := f.findDevices(commandtest.Deps())
		if err == nil {
			_, err = f.grid(commandtest.Deps(), io.Discard)
		}
		if err != nil {
			t.Fatal(err)
		}
		how, err := f.how(g)
		if err != nil {
			t.Fatal(err)
		}
		f.on = "ssh:a"
		record, err := f.sshRecord()
		if err != nil {
			t.Fatal(err)
		}
		w := workerFlags{sweepFlags: f}
		places := map[string][]string{"here": f.process(g, g.Jobs[0], c.own).Args}
		if c.own == "" { // otherwise it is a device of this machine
			places["slurm"], places["ssh"], places["worker"] = how.Script.Flags, record.Flags, w.words()
		}
		for place, words := range places {
			var got []string
			if i := slices.Index(words, "--device"); i >= 0 {
				got = words[i:]
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("--device %q: %s: %q of %q, want %q", c.device, place, got, words, c.want)
			}
		}
	}
}

// The state of a sweep can be seen when no process works at it any more.
func TestTheStatusOfAnEndedSweep(t *testing.T) {
	g := made(t)
	ends(t, g, g.Jobs[1])
	var out bytes.Buffer
	c := statusCommand()
	c.SetArgs([]string{filepath.Dir(g.Dir(g.Jobs[0]))})
	c.SetOut(&out)
	if err := c.ExecuteContext(t.Context()); err != nil || out.String() != "1 of 2 done\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// A worker of this machine that was killed is not at work. It is shown while its jobs wait.
func TestTheStatusAfterAKill(t *testing.T) {
	g := made(t)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	here := filepath.Join(filepath.Dir(g.Dir(g.Jobs[0])), "workers", "here")
	for name, of := range map[string]string{"here": host, "other": host + "-other"} {
		dir := filepath.Join(filepath.Dir(here), name)
		text := fmt.Sprintf(`{"name":%q,"host":%q,"jobs":2,"running":[0,1],"beat":%q}`, name, of, time.Now().Format(time.RFC3339))
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "worker.json"), []byte(text), 0o644), os.WriteFile(filepath.Join(dir, "lock"), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	first := func(want string) {
		t.Helper()
		if lines := workerLines(g); lines[0] != want || !slices.Contains(lines, "other  2 of 2 at work") {
			t.Errorf("%q, want %q first", lines, want)
		}
	}
	lock, err := os.OpenFile(filepath.Join(here, "lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	first("here  2 of 2 at work")
	lock.Close() // as when its process is killed
	first("here  is gone: 2 of its jobs wait for another worker")
	ends(t, g, g.Jobs[1])
	first("here  is gone: 1 of its jobs wait for another worker")
	a, err := g.Begin(g.Jobs[0])
	if err != nil {
		t.Fatal(err)
	}
	defer a.End(sweep.Ending{How: "done"})
	first("other  2 of 2 at work")
}

// A view does not wait for hosts that cannot be reached or whose worker did not start.
func TestHostsWithoutAWorkerAreGone(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "ssh"), []byte("#!/bin/sh\nexit 255\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	g := made(t)
	a, err := g.Register(sweep.Worker{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	a.End(nil, "2 of 2 jobs failed")
	record := ssh.Record{Hosts: []ssh.Host{{Name: "a"}, {Name: "b"}}}
	dir := filepath.Dir(g.Dir(g.Jobs[0]))
	client, err := ssh.NewClient("/p", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for name, try := range map[string]func(h *hosts){
		"unfit": func(h *hosts) { h.fit(t.Context(), client, dir, &sweep.Token{}, "", func(string) {}) },
		"start": func(h *hosts) { h.start(t.Context(), client, dir, record.Hosts[1]) },
	} {
		h := newHosts(g, dir, record, nil)
		try(h)
		said := h.look(time.Unix(1, 0))
		if over, err := h.over(); !over || err == nil || len(said) != 1 {
			t.Errorf("%s: over: %v, %v; said %q", name, over, err, said)
		}
	}
}
