package sweep

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
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
	if err := os.WriteFile(filepath.Join(g.Dir(j), "result.json"), []byte(`{"index":1}`), 0o644); err != nil {
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
	record := ssh.Record{Hosts: []ssh.Host{{Name: "a"}, {Name: "b"}}, Dir: filepath.Dir(g.Dir(g.Jobs[0]))}
	client, err := ssh.NewClient(record)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for name, try := range map[string]func(h *hosts){
		"unfit": func(h *hosts) { h.fit(t.Context(), client, &sweep.Token{}, "", func(string) {}) },
		"start": func(h *hosts) { h.start(t.Context(), client, record.Hosts[1]) },
	} {
		h := newHosts(g, record.Dir, record)
		try(h)
		said := h.look(time.Unix(1, 0))
		if over, err := h.over(); !over || err == nil || len(said) != 1 {
			t.Errorf("%s: over: %v, %v; said %q", name, over, err, said)
		}
	}
}
