package forks

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/run"
	"pgrlab/tui/pane"
)

// As many children train at a time as there is room for; when one ends, the next begins.
func TestChildrenTrainSideBySide(t *testing.T) {
	b := Group{room: Room{2, 9}}
	input, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	begun := make(chan int, 4)
	n := 0
	b.Begin = func(string) *exec.Cmd { // called under the lock of b
		n++
		begun <- n
		if n == 1 {
			c := exec.Command("cat") // ends with its input
			c.Stdin = input
			return c
		}
		return exec.Command("sleep", "600")
	}
	var all []*Child
	for range 3 {
		c := &Child{dir: t.TempDir()}
		done := `{"type":"done","step":0}` + "\n" // counts for the one that ends by itself
		if err := os.WriteFile(filepath.Join(c.dir, run.JournalName), []byte(done), 0o644); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
		b.add(c)
	}
	<-begun
	<-begun
	select {
	case <-begun:
		t.Error("a third one began beside two")
	default:
	}
	end.Close()
	<-begun
	b.End()
	failed := 0
	for _, c := range all {
		if c.failed() != nil {
			failed++
		}
	}
	if failed != 2 {
		t.Errorf("%d children were given up at the end, want the two that had not ended", failed)
	}
	input.Close()
}

// There is always room for one child, and for two or more with more memory and cores.
func TestThereIsRoomForAChild(t *testing.T) {
	if room := RoomBeside(1 << 20); room.AtATime < 1 || room.AtATime > 2 || room.Begun < room.AtATime {
		t.Errorf("%+v beside a run that takes all cores", room)
	}
	if room := RoomAlone(); room.AtATime < 1 || room.Begun < room.AtATime {
		t.Errorf("%+v while the run waits", room)
	}
}

// The end of a run ends the child that is training and begins no other.
func TestChildrenEndWithTheirParent(t *testing.T) {
	b := Group{room: Room{1, 9}}
	begun := make(chan string, 4)
	b.Begin = func(dir string) *exec.Cmd { begun <- dir; return exec.Command("sleep", "600") }
	first, second := &Child{dir: t.TempDir()}, &Child{dir: t.TempDir()}
	b.add(first)
	b.add(second)
	if dir := <-begun; dir != first.dir {
		t.Fatalf("%s began", dir)
	}
	b.End()
	if err := first.failed(); err == nil || !strings.Contains(err.Error(), "with its parent") && !strings.Contains(err.Error(), "not begun") {
		t.Errorf("first: %v", err)
	}
	if err := second.failed(); err == nil || !strings.Contains(err.Error(), "not begun") {
		t.Errorf("second: %v", err)
	}
}

// A child that ended in order before its last step is given up, with how to continue it.
func TestAChildStoppedByHand(t *testing.T) {
	b := Group{Begin: func(string) *exec.Cmd { return exec.Command("true") }}
	c := &Child{dir: t.TempDir()}
	b.add(c)
	b.Wait()
	if err := c.failed(); err == nil || !strings.Contains(err.Error(), "stopped before its end, at step 0 of 0: pgrlab train --resume "+c.dir+" continues it") {
		t.Error(err)
	}
}

// Children take turns: the one that has made the fewest evaluations is next, those of an earlier plan
// before those of a later one, and the last one has all turns. The end of each plan is waited for.
func TestChildrenTakeTurns(t *testing.T) {
	b := Group{}
	type asking struct {
		dir          string
		granted, ask *os.File
	}
	begun := make(chan asking, 4)
	var ends sync.Map // by name: what ends a process
	b.Begin = func(dir string) *exec.Cmd {
		input, end, err := os.Pipe()
		if err != nil {
			t.Error(err)
		}
		c := exec.Command("cat") // ends with its input
		c.Stdin = input
		ends.Store(filepath.Base(dir), end)
		return c
	}
	b.piped = func(c *Child, files []*os.File) {
		var own []*os.File
		for _, f := range files { // as the process has them
			fd, err := syscall.Dup(int(f.Fd()))
			if err != nil {
				t.Error(err)
			}
			own = append(own, os.NewFile(uintptr(fd), "turns"))
		}
		begun <- asking{filepath.Base(c.dir), own[0], own[1]}
	}
	root := t.TempDir()
	child := func(name string) pane.Child {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
		return pane.Child{Dir: filepath.Join(root, name)}
	}
	var over []func()
	for _, names := range [][]string{{"a", "b"}, {"c"}} {
		_, o, err := b.Add(func() Room { return Room{1, 9} }, func() (all []pane.Child, err error) {
			for _, name := range names {
				all = append(all, child(name))
			}
			return all, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		over = append(over, o)
	}
	all := map[string]asking{}
	trains := func(want string) { // the process of a child that has not begun is started for its turn
		t.Helper()
		if _, has := all[want]; !has {
			c := <-begun
			all[c.dir] = c
			if c.dir != want {
				t.Fatalf("%s began, want %s", c.dir, want)
			}
			return
		}
		if _, err := all[want].granted.Read(make([]byte, 1)); err != nil {
			t.Fatalf("%s: %v", want, err)
		}
	}
	asks := func(name string) {
		t.Helper()
		if _, err := all[name].ask.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
	}
	end := func(name string) {
		all[name].ask.Close()
		all[name].granted.Close()
		end, _ := ends.Load(name)
		end.(*os.File).Close()
	}
	trains("a")
	asks("a")
	trains("b")
	asks("b")
	trains("a")
	asks("a")
	trains("b")
	end("b")
	trains("a")
	end("a")
	over[0]()
	trains("c")
	asks("c")
	trains("c")
	end("c")
	over[1]()
	b.Wait()
	if b.busy != 0 || len(b.begun) != 0 || len(b.running) != 0 {
		t.Errorf("%d busy, %d begun, %d running at the end", b.busy, len(b.begun), len(b.running))
	}
}

// Without the process that grants turns a child trains on.
func TestTurnsEndWithTheirProcess(t *testing.T) {
	c := exec.Command("true")
	grant, asked, err := turnPipes(c)
	if err != nil {
		t.Fatal(err)
	}
	turns := &Turns{c.ExtraFiles[0], c.ExtraFiles[1]}
	grant.Write([]byte{1})
	if err := turns.Next(); err != nil {
		t.Fatal(err)
	}
	grant.Close()
	if err := turns.Next(); err == nil {
		t.Error("it waits for another turn")
	}
	asked.Close()
	if err := turns.Next(); err == nil {
		t.Error("it asks for another turn")
	}
}

// Plans that are made at the same time have different children: the next one is made when the folders of
// the one before are there.
func TestPlansAreMadeOneAfterAnother(t *testing.T) {
	b := Group{Begin: func(string) *exec.Cmd { return exec.Command("true") }}
	c, prefix := config.Config{Seed: 1, Members: 1}, filepath.Join(t.TempDir(), "run")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			_, _, err := b.Add(func() Room { return Room{2, 9} }, func() (made []pane.Child, err error) {
				for _, f := range Deal(c, 2, prefix, OfChange) {
					runtime.Gosched()
					if err := os.Mkdir(f.Dir, 0o755); err != nil {
						return made, err
					}
					made = append(made, pane.Child{Dir: f.Dir})
				}
				return made, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	b.Wait()
}

// Before a run moves, the children that are being made get ready, and no others are made until it stays.
func TestPlansAreRefusedWhileTheRunMoves(t *testing.T) {
	b := Group{}
	begun, ready, refused := make(chan bool), make(chan bool), make(chan func())
	made := false
	add := func(plan func() ([]pane.Child, error)) error {
		_, _, err := b.Add(func() Room { return Room{2, 9} }, plan)
		return err
	}
	var adding sync.WaitGroup
	adding.Go(func() {
		err := add(func() ([]pane.Child, error) {
			close(begun)
			<-ready
			made = true
			return nil, nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-begun
	moving := errors.New("it moves")
	go func() { refused <- b.Refuse(moving) }()
	for range 100 {
		runtime.Gosched()
	}
	select {
	case <-refused:
		t.Fatal("the run moves while children are being made")
	default:
	}
	close(ready)
	allow := <-refused
	if !made {
		t.Error("the run moved before the children were made")
	}
	if err := add(func() ([]pane.Child, error) { t.Error("children are made"); return nil, nil }); err != moving {
		t.Error(err)
	}
	allow()
	if err := add(func() ([]pane.Child, error) { return nil, nil }); err != nil {
		t.Error(err)
	}
	adding.Wait()
}
