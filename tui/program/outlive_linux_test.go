package program

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/event"
	"pgrlab/tui/remote"
)

// When the parent's run is stopped, forks that still train or wait for their turn continue to their
// ends; the last words of the parent name each fork.
func TestForksOutliveTheirParent(t *testing.T) {
	setUp(t)
	private(t)
	for _, way := range []struct {
		name, keys, pairs string
		forks             int
	}{{"stopped", "qs", "4", 8}, {"left", "qd", "1", 2}} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			p := sitDown(t, colourless, "--preset", "tiny.toml", "--steps", "1_000_000", "--at", "200:refit_every=1_000_000", "--out", way.name)
			p.await("#1 ")
			p.press("j", knobNumber(3)) // it begins at the second
			p.press("\x1b[C", "1 staged")
			p.press("f", "do not fork")
			p.press(way.pairs, fmt.Sprintf("%d forks", way.forks))
			p.press(way.keys[:1], "stop and save all of them")
			p.press(way.keys[1:], "its fork "+way.name+"-fork-")
			if status := p.status(); status != 0 {
				t.Errorf("status %d", status)
			}
			<-p.drained
			dirs, _ := filepath.Glob(way.name + "-fork-*")
			if len(dirs) != way.forks {
				t.Fatalf("%d forks", len(dirs))
			}
			left := 0
			for _, dir := range dirs {
				if strings.Contains(string(p.text), "its fork "+dir+" ") {
					left++
				}
			}
			if left == 0 || !strings.Contains(string(p.text), "what its forks say: pgrlab report "+way.name+"-fork-") {
				t.Errorf("no fork was named:\n%s", p.text)
			}
			for _, dir := range dirs {
				ends(t, dir)
				if n := types(t, dir); n[event.TypeDone] != 1 {
					t.Errorf("%s: %v", dir, n)
				}
			}
			if way.name == "left" {
				pgrlabStop(t, way.name)
				awaitEnds(t, way.name)
			}
		})
	}
}

// A run whose process is stopped is listed with its folder and with the command that continues it.
// A client that looks for the run gets the same answer at once.
func TestAStoppedProcessIsListed(t *testing.T) {
	setUp(t)
	private(t)
	c, said := child(t, "train", "--preset", "tiny.toml", "--steps", "1_000_000", "--out", "run")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		c.Process.Kill()
		c.Wait()
	}()
	eventually(t, "it listens", func() bool { _, err := remote.Find("run"); return err == nil })
	c.Process.Signal(syscall.SIGSTOP)
	eventually(t, "it is stopped", func() bool {
		_, err := remote.Find("run")
		return err != nil && strings.Contains(err.Error(), fmt.Sprintf("kill -CONT %d", c.Process.Pid))
	})
	list, _ := child(t, "ps")
	out, err := list.Output()
	if err != nil || !strings.Contains(string(out), fmt.Sprintf("run (stopped, as by ctrl-z: fg, or kill -CONT %d)", c.Process.Pid)) {
		t.Errorf("%v: %s\n%s", err, out, said)
	}
	for line := range strings.Lines(string(out)) {
		if n := len(strings.Fields(line)); n < 10 {
			t.Errorf("a column is empty: %q", line)
		}
	}
	c.Process.Signal(syscall.SIGCONT)
	eventually(t, "it goes on", func() bool {
		s, err := remote.Look(context.Background(), "run")
		return err == nil && s.Answered
	})
}
