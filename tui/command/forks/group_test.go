package forks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/run"
)

// As many children train at a time as there is room for; when one ends, the next begins.
func TestChildrenTrainSideBySide(t *testing.T) {
	b := Group{room: func() int { return 2 }}
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
	if n := RoomBeside(1 << 20); n < 1 || n > 2 {
		t.Errorf("%d children beside a run that takes all cores", n)
	}
}

// The end of a run ends the child that is training and begins no other.
func TestChildrenEndWithTheirParent(t *testing.T) {
	b := Group{room: func() int { return 1 }}
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

// A child that ended in order before its last step is given up, with how to go on with it.
func TestAChildStoppedByHand(t *testing.T) {
	b := Group{Begin: func(string) *exec.Cmd { return exec.Command("true") }}
	c := &Child{dir: t.TempDir()}
	b.add(c)
	b.Wait()
	if err := c.failed(); err == nil || !strings.Contains(err.Error(), "stopped before its end, at step 0 of 0: pgrlab train --resume "+c.dir+" goes on with it") {
		t.Error(err)
	}
}
