package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/pane"
)

// A run whose changes are confirmed gets a preset with them, and pairs of runs on
// fresh seeds: one with the schedule, one without. A child that fails is said to.
func TestConfirmationMakesPairsOnFreshSeeds(t *testing.T) {
	config, err := presets.Resolve(presets.Choice{Preset: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := presets.Encode(config)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "touched")
	folder, err := run.Create(dir, doc)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	line := `{"type":"knob","step":2000,"id":1,"knob":"guidance","from":2,"to":3,"class":"generation","position":"2000"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, run.JournalName), []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	s := &session{config: config, folder: folder}
	s.forks.begin = func(dir string) *exec.Cmd { return exec.Command("false") }
	children, err := s.fork(pane.ForkPlan{Confirm: true, Pairs: 2, Steps: config.Steps})
	if err != nil || len(children) != 4 {
		t.Fatalf("%d children: %v", len(children), err)
	}
	s.forks.working.Wait()
	for i, c := range children {
		child, err := presets.Resolve(presets.Choice{Preset: filepath.Join(c.Dir, run.ConfigName)})
		if err != nil {
			t.Fatal(err)
		}
		if want := config.Seed + 1 + uint64(i/2); child.Seed != want || c.Pair != i/2 {
			t.Errorf("child %d: pair %d with seed %d, want %d", i, c.Pair, child.Seed, want)
		}
		if got := len(child.Schedule); got != i%2 || c.Changed != (i%2 == 1) {
			t.Errorf("child %d: changed %v with %v", i, c.Changed, child.Schedule)
		}
		if err := c.Failed(); err == nil || !strings.Contains(err.Error(), "exit status 1") {
			t.Errorf("child %d: %v", i, err)
		}
	}
	preset, err := presets.Resolve(presets.Choice{Preset: dir + "-schedule.toml"})
	if err != nil || len(preset.Schedule) != 1 || !strings.Contains(preset.Schedule[0], "guidance=3") {
		t.Errorf("preset: %v, %v", preset.Schedule, err)
	}
}

// As many children train at a time as there is room for; one that ends makes room
// for the next.
func TestChildrenTrainSideBySide(t *testing.T) {
	b := forkGroup{room: func() int { return 2 }}
	input, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	begun := make(chan int, 4)
	n := 0
	b.begin = func(string) *exec.Cmd { // called under the lock of b
		n++
		begun <- n
		if n == 1 {
			c := exec.Command("cat") // ends with its input
			c.Stdin = input
			return c
		}
		return exec.Command("sleep", "600")
	}
	var all []*childRun
	for range 3 {
		c := &childRun{dir: t.TempDir()}
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
	b.end()
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

// With room for one child there is always one, two or more with more memory and cores.
func TestThereIsRoomForAChild(t *testing.T) {
	if n := roomBeside(1 << 20); n < 1 || n > 2 {
		t.Errorf("%d children beside a run that takes all cores", n)
	}
}

// The end of a run ends the child that trains and begins no other.
func TestChildrenEndWithTheirParent(t *testing.T) {
	b := forkGroup{room: func() int { return 1 }}
	begun := make(chan string, 4)
	b.begin = func(dir string) *exec.Cmd { begun <- dir; return exec.Command("sleep", "600") }
	first, second := &childRun{dir: t.TempDir()}, &childRun{dir: t.TempDir()}
	b.add(first)
	b.add(second)
	if dir := <-begun; dir != first.dir {
		t.Fatalf("%s began", dir)
	}
	b.end()
	if err := first.failed(); err == nil || !strings.Contains(err.Error(), "stopped with its parent") && !strings.Contains(err.Error(), "not begun") {
		t.Errorf("first: %v", err)
	}
	if err := second.failed(); err == nil || !strings.Contains(err.Error(), "not begun") {
		t.Errorf("second: %v", err)
	}
}
