package forks

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgrlab/tui/command/rundir"
)

// sleepers is a group whose children do nothing for a long time: asked names the children that are
// about to begin, and began has their processes.
func sleepers(room int) (b *Group, asked chan string, began chan *os.Process) {
	b, asked, began = &Group{room: Room{room, 9}}, make(chan string, 8), make(chan *os.Process, 8)
	b.Begin = func(dir string) *exec.Cmd {
		asked <- dir
		return exec.Command("sleep", "600")
	}
	b.began = func(p *os.Process) { began <- p }
	return b, asked, began
}

// When children are released, those that train go on, and those that wait get a process of their
// own that has a list of those to wait for. For each child a line says how to reach it.
func TestChildrenOutliveTheirParent(t *testing.T) {
	b, begun, began := sleepers(2)
	var all []*Child
	for range 4 {
		c := &Child{dir: t.TempDir()}
		all = append(all, c)
		b.add(c)
	}
	training := []*os.Process{<-began, <-began}
	<-begun
	<-begun
	defer func() {
		for _, p := range training {
			p.Kill()
		}
		b.working.Wait()
	}()
	var asked []string
	said := b.Release(func(args ...string) *exec.Cmd {
		asked = args
		return exec.Command("true")
	})
	for _, p := range training {
		if !lives(p.Pid) {
			t.Errorf("%d has ended", p.Pid)
		}
		if !slices.Contains(asked, strconv.Itoa(p.Pid)) {
			t.Errorf("no process waits for %d: %q", p.Pid, asked)
		}
	}
	if len(said) != 4 || asked[0] != TrainName {
		t.Fatalf("%q, %q", said, asked)
	}
	for _, c := range all {
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

// When children end with their parent, they have ended before this is reported, and for each child
// a line has the command that continues it.
func TestChildrenEndConsciously(t *testing.T) {
	b, _, began := sleepers(1)
	first, second := &Child{dir: filepath.Join(t.TempDir(), "first")}, &Child{dir: filepath.Join(t.TempDir(), "second")}
	for _, c := range []*Child{first, second} {
		if err := os.Mkdir(c.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		b.add(c)
	}
	training := <-began
	said := b.End()
	if lives(training.Pid) {
		t.Error("the first one lives")
	}
	if len(said) != 2 || !strings.Contains(said[0], "pgrlab train --resume "+first.dir+" continues it") || !strings.Contains(said[1], "pgrlab train --resume "+second.dir+" begins") {
		t.Errorf("%q", said)
	}
	if err := first.failed(); err == nil || !strings.Contains(err.Error(), "with its parent") {
		t.Error(err)
	}
}

// Children are asked to end once, when a signal comes, also if the end of the run asks again much later.
func TestChildrenAreStoppedOnce(t *testing.T) {
	b, _, began := sleepers(1)
	dir := t.TempDir()
	saves := filepath.Join(dir, "saves") // a child that notes each SIGTERM and ends when it is let
	b.Begin = func(string) *exec.Cmd {
		c := exec.Command("sh", "-c", `trap 'echo asked >>"$0"' TERM; echo ready >>"$0"; until [ -e "$0.go" ]; do sleep 0.01; done`, saves)
		return c
	}
	child := &Child{dir: dir}
	b.add(child)
	<-began
	noted := func() string {
		text, _ := os.ReadFile(saves)
		return string(text)
	}
	waitFor(t, func() bool { return noted() == "ready\n" })
	b.Stop()
	waitFor(t, func() bool { return noted() == "ready\nasked\n" })
	ended := make(chan []string)
	go func() { ended <- b.End() }()
	b.Stop()
	if err := os.WriteFile(saves+".go", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if said := <-ended; len(said) != 1 || !strings.Contains(said[0], "continues it") || noted() != "ready\nasked\n" {
		t.Errorf("%q after %q", said, noted())
	}
}

func waitFor(t *testing.T, what func() bool) {
	t.Helper()
	for range 60_000 {
		if what() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("it did not come about within a minute")
}

// A queue whose context is cancelled begins no further fork.
func TestNoForkBeginsAtTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	trainInTurn(ctx, []string{dir}, nil, 1)
	if rundir.Exists(filepath.Join(dir, "train.log")) {
		t.Error("a fork began")
	}
}
