package session

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/lab"
	"pgrlab/core/run"
	"pgrlab/core/testing/tiny"
	"pgrlab/presets"
	"pgrlab/tui/pane"
)

// Confirming the changes of a run, here of four seeds, makes a preset with these changes and pairs of
// runs on fresh seeds, one with the schedule and one without. A child that fails is reported.
func TestConfirmationMakesPairsOnFreshSeeds(t *testing.T) {
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
	children, err := s.fork(pane.ForkPlan{Confirm: true, Pairs: 2, Steps: config.Steps})
	if err != nil || len(children) != 4 {
		t.Fatalf("%d children: %v", len(children), err)
	}
	s.forks.Wait()
	for i, c := range children {
		child, err := presets.Resolve(presets.Choice{Preset: filepath.Join(c.Dir, run.ConfigName)})
		if err != nil {
			t.Fatal(err)
		}
		if want := config.Seed + 4*(1+uint64(i/2)); child.Seed != want || c.Pair != i/2 {
			t.Errorf("child %d: pair %d with seed %d, want %d", i, c.Pair, child.Seed, want)
		}
		if got := len(child.Schedule); got != i%2 || c.Changed != (i%2 == 1) {
			t.Errorf("child %d: changed %v with %v", i, c.Changed, child.Schedule)
		}
		if err := c.Failed(); err == nil || !strings.Contains(err.Error(), "exit status 1") {
			t.Errorf("child %d: %v", i, err)
		}
	}
	// A second confirmation has a preset of its own.
	if err := os.WriteFile(filepath.Join(dir, run.JournalName), []byte(strings.Replace(line, `"to":3`, `"to":5`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.fork(pane.ForkPlan{Confirm: true, Pairs: 1, Steps: config.Steps}); err != nil {
		t.Fatal(err)
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
// both runs of a pair.
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
