package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgrlab/core/run"
	"pgrlab/core/testing/pace"
	"pgrlab/presets"
	"pgrlab/tui/pane"
)

// awaitFailed waits until a child was given up.
func awaitFailed(t *testing.T, c pane.Child) string {
	t.Helper()
	pace.Look()
	for limit := time.Now().Add(5 * time.Minute); time.Now().Before(limit); time.Sleep(5 * time.Millisecond) { // another process cannot tell us
		if err := c.Failed(); err != nil {
			return err.Error()
		}
	}
	t.Fatalf("%s was not given up", c.Dir)
	return ""
}

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
	s.brood.begin = func(dir string) *exec.Cmd { return exec.Command("false") }
	children, err := s.fork(pane.ForkPlan{Confirm: true, Pairs: 2, Steps: config.Steps})
	if err != nil || len(children) != 4 {
		t.Fatalf("%d children: %v", len(children), err)
	}
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
		if said := awaitFailed(t, c); !strings.Contains(said, "exit status 1") {
			t.Errorf("child %d: %s", i, said)
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
	b := brood{room: func() int { return 2 }}
	begun := make(chan *exec.Cmd, 4)
	b.begin = func(string) *exec.Cmd {
		c := exec.Command("sleep", "600")
		begun <- c
		return c
	}
	var cubs []*cub
	for range 3 {
		c := &cub{dir: t.TempDir()}
		cubs = append(cubs, c)
		b.add(c)
	}
	first, _ := <-begun, <-begun
	select {
	case <-begun:
		t.Error("a third one began beside two")
	default:
	}
	for started := false; !started; time.Sleep(time.Millisecond) { // another goroutine starts it
		b.mu.Lock()
		started = first.Process != nil
		b.mu.Unlock()
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-begun
	b.end()
	for _, c := range cubs {
		awaitFailed(t, pane.Child{Dir: c.dir, Failed: c.failed})
	}
}

// With room for one child there is always one, two or more with more memory and cores.
func TestThereIsRoomForAChild(t *testing.T) {
	if n := roomBeside(1 << 20); n < 1 || n > 2 {
		t.Errorf("%d children beside a run that takes all cores", n)
	}
}

// The end of a run ends the child that trains and begins no other.
func TestChildrenEndWithTheirParent(t *testing.T) {
	b := brood{room: func() int { return 1 }}
	begun := make(chan string, 4)
	b.begin = func(dir string) *exec.Cmd { begun <- dir; return exec.Command("sleep", "600") }
	first, second := &cub{dir: t.TempDir()}, &cub{dir: t.TempDir()}
	b.add(first)
	b.add(second)
	if dir := <-begun; dir != first.dir {
		t.Fatalf("%s began", dir)
	}
	b.end()
	if said := awaitFailed(t, pane.Child{Dir: "first", Failed: first.failed}); !strings.Contains(said, "stopped with its parent") {
		t.Errorf("first: %s", said)
	}
	if said := awaitFailed(t, pane.Child{Dir: "second", Failed: second.failed}); !strings.Contains(said, "not begun") {
		t.Errorf("second: %s", said)
	}
}
