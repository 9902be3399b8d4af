package forks

import (
	"bytes"
	"encoding/gob"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"pgrlab/core/checkpoint"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/core/run/files"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
)

// savedRun makes the folder of a run of the demo with a checkpoint of step 10 that holds sections.
func savedRun(t *testing.T, sections ...run.Section) (dir string) {
	t.Helper()
	c, err := presets.Resolve(presets.Choice{Preset: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := presets.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "run")
	folder, err := run.Create(dir, doc)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if _, _, err := folder.WriteCheckpoint(&run.Checkpoint{Header: run.Header{Config: folder.Config(), Step: 10, Position: "10", Journal: folder.Mark()}, Sections: sections}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A config.toml that was changed by hand is not what the checkpoints were trained with, so nothing is
// forked from them.
func TestARunWhoseConfigWasChangedIsNotForked(t *testing.T) {
	dir := savedRun(t)
	path := filepath.Join(dir, run.ConfigName)
	doc, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(doc, "# mine\n"...), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if made, err := (&request{}).make(dir, func(string) {}); !errors.Is(err, run.ErrOtherConfig) {
		t.Errorf("%v: %v", made, err)
	}
}

// What cannot be a value of a knob is wrong with the command line, and not with the checkpoint.
func TestAForkWithAWrongValue(t *testing.T) {
	dir := savedRun(t)
	for text, want := range map[string]string{
		"guidance=99": "fork: --set guidance=99: guidance: 99 is out of range: want a number from 0 to 10",
		"guidanze=3":  `fork: --set guidanze=3: unknown knob "guidanze": did you mean "guidance"?`,
		"guidance":    "fork: --set guidance: want knob=value",
	} {
		_, err := (&request{set: []string{text}}).make(dir, func(string) {})
		if err == nil || err.Error() != want || cli.ExitStatus(err) != cli.StatusUsage {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Where a knob has the value already, forks with the change and without would be alike: none are made.
func TestForksAreNotMadeOfNoChange(t *testing.T) {
	var loop bytes.Buffer
	if err := gob.NewEncoder(&loop).Encode(checkpoint.Loop{Position: knob.After(10), Loop: checkpoint.Counters{Settings: knob.Settings{Guidance: 3}}}); err != nil {
		t.Fatal(err)
	}
	dir := savedRun(t, run.Section{Name: checkpoint.SectionLoop, Content: loop.Bytes()})
	for _, text := range []string{"guidance=3!", "ω=3.0"} {
		made, err := (&request{set: []string{text}, pairs: 4}).make(dir, func(string) {})
		if want := "fork: guidance is 3 there already: forks with that change and without would be alike"; err == nil || err.Error() != want || len(made) > 0 {
			t.Errorf("%s: made %q: %v", text, made, err)
		}
	}
	if made, err := (&request{set: []string{"guidance=2!"}, pairs: 1}).make(dir, func(string) {}); err != nil || len(made) != 2 {
		t.Errorf("made %q: %v", made, err)
	}
}

// Forks that are made at the same moment without a name each get another one; a name that was given is
// that of one fork.
func TestForksThatAreMadeAtOnce(t *testing.T) {
	var loop bytes.Buffer
	if err := gob.NewEncoder(&loop).Encode(checkpoint.Loop{Position: knob.After(10)}); err != nil {
		t.Fatal(err)
	}
	dir := savedRun(t, run.Section{Name: checkpoint.SectionLoop, Content: loop.Bytes()})
	for out, want := range map[string]int{"": 4, filepath.Join(t.TempDir(), "named"): 1} {
		var met, all sync.WaitGroup
		met.Add(4)
		var begun atomic.Int32
		stop := files.Watch(func(o files.Op) error {
			if o.Kind == files.MadeDir && run.IsUnfinished(filepath.Base(o.Path)) && begun.Add(1) <= 4 { // when each has found the same name
				met.Done()
				met.Wait()
			}
			return nil
		})
		var made [4][]string
		var errs [4]error
		for i := range made {
			all.Go(func() { made[i], errs[i] = (&request{out: out}).make(dir, func(string) {}) })
		}
		all.Wait()
		stop()
		names := map[string]bool{}
		for i := range made {
			if errs[i] == nil {
				names[made[i][0]] = true
			} else if want == len(made) || !errors.Is(errs[i], run.ErrTaken) {
				t.Error(errs[i])
			}
		}
		if len(names) != want {
			t.Errorf("--out %q: %d forks: %v", out, len(names), names)
		}
	}
}
