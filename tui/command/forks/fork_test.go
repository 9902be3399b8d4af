package forks

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
)

// savedRun makes the folder of a run of the demo with a checkpoint of step 10 that holds no state.
func savedRun(t *testing.T) (dir string) {
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
	if _, _, err := folder.WriteCheckpoint(&run.Checkpoint{Header: run.Header{Config: folder.Config(), Step: 10, Position: "10", Journal: folder.Mark()}}); err != nil {
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
