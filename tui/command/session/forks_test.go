package session

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/lab"
	"pgrlab/core/run"
	"pgrlab/core/testing/tiny"
	"pgrlab/presets"
	"pgrlab/tui"
	"pgrlab/tui/pane"
)

// Confirming the changes of a run, here of four seeds, makes a preset with these changes and runs on
// fresh seeds, half of them with the schedule and half without. A child that fails is reported.
func TestConfirmationMakesRunsOnFreshSeeds(t *testing.T) {
	config, err := presets.Resolve(presets.Choice{Preset: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	config.Members = 4
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
	s.forks.Begin = func(dir string) *exec.Cmd { return exec.Command("false") }
	made, children, err := s.fork(pane.ForkPlan{Confirm: true, Each: 2, Steps: config.Steps})
	if err != nil || len(children) != 4 || fmt.Sprint(made.Schedule) != "[2000:guidance=3]" || made.Steps != config.Steps {
		t.Fatalf("%d children of %v: %v", len(children), made, err)
	}
	s.forks.Wait()
	changed := 0
	for i, c := range children {
		child, err := presets.Resolve(presets.Choice{Preset: filepath.Join(c.Dir, run.ConfigName)})
		if err != nil {
			t.Fatal(err)
		}
		if want := config.Seed + 4*(1+uint64(i)); child.Seed != want {
			t.Errorf("child %d: seed %d, want %d", i, child.Seed, want)
		}
		if c.Changed {
			changed++
		}
		if got := len(child.Schedule) == 1; got != c.Changed {
			t.Errorf("child %d: changed %v with %v", i, c.Changed, child.Schedule)
		}
		if err := c.Failed(); err == nil || !strings.Contains(err.Error(), "exit status 1") {
			t.Errorf("child %d: %v", i, err)
		}
	}
	if changed != 2 {
		t.Errorf("%d of 4 children got the changes", changed)
	}
	// A second confirmation has a preset of its own, and other seeds.
	if err := os.WriteFile(filepath.Join(dir, run.JournalName), []byte(strings.Replace(line, `"to":3`, `"to":5`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	made, again, err := s.fork(pane.ForkPlan{Confirm: true, Each: 1, Steps: config.Steps})
	if err != nil || len(again) != 2 || fmt.Sprint(made.Schedule) != "[2000:guidance=5]" {
		t.Fatal(made, again, err)
	}
	for i, c := range again {
		child, err := presets.Resolve(presets.Choice{Preset: filepath.Join(c.Dir, run.ConfigName)})
		if want := config.Seed + 4*uint64(5+i); err != nil || child.Seed != want {
			t.Errorf("child %d of the second: seed %d, want %d: %v", i, child.Seed, want, err)
		}
	}
	s.forks.Wait()
	for name, want := range map[string]string{"-schedule.toml": "guidance=3", "-schedule-2.toml": "guidance=5"} {
		preset, err := presets.Resolve(presets.Choice{Preset: dir + name})
		if err != nil || len(preset.Schedule) != 1 || !strings.Contains(preset.Schedule[0], want) {
			t.Errorf("preset %s: %v, %v", name, preset.Schedule, err)
		}
	}
}

// What is confirmed is what was done by hand: changes that the configuration plans for later are made by
// all runs.
func TestAConfirmationHasWhatIsStillToCome(t *testing.T) {
	c := tiny.Config()
	c.Schedule = []string{"20:ratio=0.75", "22:tau=0.5"}
	dir := filepath.Join(t.TempDir(), "touched")
	folder, err := run.Create(dir, []byte("seed = 7\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	lines := `{"type":"knob","step":8,"id":1,"knob":"guidance","from":2,"to":3,"class":"generation","position":"8"}
{"type":"knob","step":20,"id":2,"knob":"ratio","from":0.5,"to":0.75,"class":"batch","position":"20"}
`
	if err := os.WriteFile(filepath.Join(dir, run.JournalName), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := lab.New(context.Background(), c, tiny.Task(), tiny.Device(t), nil) // as it was before the change of ratio
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := &session{config: c, folder: folder, lab: l}
	all, err := s.schedule()
	if want := "[8:guidance=3 20:ratio=0.75 22:tau=0.5]"; err != nil || fmt.Sprint(all) != want {
		t.Errorf("%q, want %s: %v", all, want, err)
	}
}

// Only forks that no process trains are trained on, and each once.
func TestForksThatTrainAreLeftAlone(t *testing.T) {
	root := t.TempDir()
	var all []pane.Child
	for _, name := range []string{"elsewhere", "stopped"} {
		folder, err := run.Create(filepath.Join(root, name), []byte("seed = 7\n"))
		if err != nil {
			t.Fatal(err)
		}
		defer folder.Close()
		if name == "stopped" {
			folder.Close()
		}
		all = append(all, pane.Child{Dir: folder.Dir()})
	}
	begun, s := make(chan string, 4), &session{}
	input, ends, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	s.forks.Begin = func(dir string) *exec.Cmd {
		begun <- dir
		c := exec.Command("cat") // ends with its input
		c.Stdin = input
		return c
	}
	for _, want := range []int{1, 0} { // as of two keys r, one after the other
		if on, err := s.goOn(slices.Clone(all)); err != nil || len(on) != want || want > 0 && on[0].Dir != all[1].Dir {
			t.Errorf("%v train on, %v", on, err)
		}
	}
	ends.Close()
	s.forks.Wait()
	if len(begun) != 1 {
		t.Errorf("%d processes were begun", len(begun))
	}
}

// A run whose screen was left with stop and save ends, also if the lab had no room for the request then.
func TestABusyRunIsStopped(t *testing.T) {
	c := tiny.Config()
	c.Steps = 1_000_000
	folder, err := run.Create(filepath.Join(t.TempDir(), "run"), []byte("seed = 7\n"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.New(t.Context(), c, tiny.Task(), tiny.Device(t), folder)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		err = l.Send(event.Watch{})
	}
	s := &session{config: c, task: tiny.Task(), folder: folder, lab: l, ended: make(chan struct{})}
	s.newServing()
	s.viewer = s.viewers.Join("screen")
	begin := newBeginning(func() error {
		go func() {
			defer close(s.ended)
			s.err = l.Run(t.Context())
		}()
		return nil
	})
	if err := begin.do(); err != nil {
		t.Fatal(err)
	}
	if err := s.afterScreen(t.Context(), begin, tui.StopRequested, nil, io.Discard, nil); err != nil {
		t.Error(err)
	}
}
