package command

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgrlab/tui/pane"
)

// sleepers is a brood whose children do nothing for long; begun names them as they begin.
func sleepers(room int) (b *brood, begun chan string) {
	b, begun = &brood{room: func() int { return room }}, make(chan string, 8)
	b.begin = func(dir string) *exec.Cmd {
		begun <- dir
		return exec.Command("sleep", "600")
	}
	return b, begun
}

// processes waits until as many children train, and gives their processes.
func processes(t *testing.T, b *brood, n int) (all []*os.Process) {
	t.Helper()
	for len(all) < n { // other goroutines start them
		b.mu.Lock()
		all = nil
		for cmd := range b.running {
			if cmd.Process != nil {
				all = append(all, cmd.Process)
			}
		}
		b.mu.Unlock()
	}
	return all
}

// Children that are released go on, those that wait get a process of their own that is
// told whom to wait for, and each is named with what leads to it.
func TestChildrenOutliveTheirParent(t *testing.T) {
	b, begun := sleepers(2)
	var cubs []*cub
	for range 4 {
		c := &cub{dir: t.TempDir()}
		cubs = append(cubs, c)
		b.add(c)
	}
	<-begun
	<-begun
	training := processes(t, b, 2)
	defer func() {
		for _, p := range training {
			p.Kill()
		}
		b.working.Wait()
	}()
	var asked []string
	said := b.release(func(args ...string) *exec.Cmd {
		asked = args
		return exec.Command("true")
	})
	for _, p := range training {
		if !lives(p.Pid) {
			t.Errorf("%d has ended", p.Pid)
		}
		if !slices.Contains(asked, strconv.Itoa(p.Pid)) {
			t.Errorf("nobody waits for %d: %q", p.Pid, asked)
		}
	}
	if len(said) != 4 || asked[0] != trainForks {
		t.Fatalf("%q, %q", said, asked)
	}
	for _, c := range cubs {
		begins := slices.Contains(asked, c.dir)
		i := slices.IndexFunc(said, func(text string) bool { return strings.Contains(text, c.dir) })
		if i < 0 || begins != strings.Contains(said[i], "waits for its turn") || begins == strings.Contains(said[i], "pgrlab attach "+c.dir) {
			t.Errorf("%s begins %v: %q", c.dir, begins, said)
		}
	}
	select {
	case dir := <-begun:
		t.Errorf("%s began", dir)
	default:
	}
}

// Children that end with their parent have ended when that is said, and each is named
// with what goes on with it.
func TestChildrenEndConsciously(t *testing.T) {
	b, begun := sleepers(1)
	first, second := &cub{dir: filepath.Join(t.TempDir(), "first")}, &cub{dir: filepath.Join(t.TempDir(), "second")}
	for _, c := range []*cub{first, second} {
		if err := os.Mkdir(c.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		b.add(c)
	}
	<-begun
	training := processes(t, b, 1)
	said := b.end()
	if lives(training[0].Pid) {
		t.Error("the first one lives")
	}
	if len(said) != 2 || !strings.Contains(said[0], "pgrlab train --resume "+first.dir+" goes on") || !strings.Contains(said[1], "pgrlab train --resume "+second.dir+" begins") {
		t.Errorf("%q", said)
	}
	if why := awaitFailed(t, pane.Child{Failed: first.failed}); !strings.Contains(why, "stopped with its parent") {
		t.Error(why)
	}
}

// What is told to end begins nothing more.
func TestNoForkBeginsAtTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	trainInTurn(ctx, []string{dir}, nil, 1)
	if exists(filepath.Join(dir, "train.log")) {
		t.Error("a fork began")
	}
}
