package rundir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/run"
	"pgrlab/tui/command/cli"
)

// A run of a sweep is named after its job, since the folders of such runs are all called run.
func TestRunsHaveNamesAmongOthers(t *testing.T) {
	dir := t.TempDir()
	job := filepath.Join(dir, "0002-cheetah-run-sac-s1")
	for _, d := range []string{filepath.Join(job, "run"), filepath.Join(dir, "run")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(job, "job.toml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{filepath.Join(job, "run"): "0002-cheetah-run-sac-s1", filepath.Join(dir, "run"): "run", job: "0002-cheetah-run-sac-s1"} {
		if got := Name(path); got != want {
			t.Errorf("%s is called %s, want %s", path, got, want)
		}
	}
}

// An @ in the name of a folder that exists does not begin a step.
func TestFoldersWithAnAt(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("me@home/run", 0o755); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"me@home/run": "me@home/run at -1", "me@home/run@2k": "me@home/run at 2000", "run@7": "run at 7"} {
		dir, step, err := SplitStep(text)
		if got := fmt.Sprintf("%s at %d", dir, step); got != want || err != nil {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	if _, _, err := SplitStep("me@work/run"); err == nil {
		t.Error("there is no such folder")
	}
}

// How far a run has come is read from journals of any length.
func TestTheStandingOfALongRun(t *testing.T) {
	dir, long := t.TempDir(), strings.Repeat("-", 1<<20)
	file, err := os.Create(filepath.Join(dir, run.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for step := range 18 {
		fmt.Fprintf(file, `{"type":"note","step":%d,"text":"%s"}`+"\n", step, long)
	}
	if where, done := Standing(dir); where != "at step 17 of 0" || done {
		t.Errorf("%s, %v", where, done)
	}
}

// How far a run has come is read at the end of its journal, whatever is before; of analyses that were added
// there none counts as the newest step.
func TestTheStandingIsReadAtTheEnd(t *testing.T) {
	examined := fmt.Sprintf(`{"type":"examined","step":5,"text":"%s"}`+"\n", strings.Repeat("-", 10_000))
	note := func(step int) string { return fmt.Sprintf(`{"type":"note","step":%d}`+"\n", step) }
	for text, want := range map[string]int{
		note(3) + "damaged\n" + note(9): 9, note(8) + note(7): 8, note(9) + `{"type":"note","step":10`: 9,
		note(9) + examined + examined: 9, examined: 5, "": 0,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, run.JournalName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if where, done := Standing(dir); where != fmt.Sprintf("at step %d of 0", want) || done {
			t.Errorf("%.60q: %s, %v, want step %d", text, where, done, want)
		}
	}
}

// Why there is no checkpoint to continue from is said: a step that was not given is not to blame.
func TestNoCheckpoint(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("empty", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join("damaged", run.CheckpointsName), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("damaged", run.CheckpointsName, "9.ckpt"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"nosuch": "no such run folder", "empty": "empty: there is no checkpoint to continue from", "empty@5": "there is no checkpoint to continue from yet: pgrlab checkpoint saves one while the run goes on",
		"damaged": "there is no checkpoint to continue from; 9.ckpt cannot be read: ",
	} {
		if _, err := Checkpoint(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// A run whose journal ends with done is complete, also if its saved states were analysed, or its forks looked
// at, later.
func TestACompleteRunIsAnalysed(t *testing.T) {
	examined := fmt.Sprintf(`{"type":"examined","step":5,"text":"%s"}`+"\n", strings.Repeat("-", 10_000))
	done, note := `{"type":"done","step":9}`+"\n", `{"type":"note","step":9}`+"\n"
	look := `{"type":"fork_look","step":9}` + "\n"
	for text, want := range map[string]bool{
		note + done + look + examined: true, note + look: false,
		note + done: true, note + done + examined + examined: true,
		"": false, note: false, examined: false, note + examined: false, done + note + examined: false,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, run.JournalName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if Complete(dir, 9) != want || Complete(dir, 10) {
			t.Errorf("%.60q: complete at step 9: %v, at 10: %v", text, Complete(dir, 9), Complete(dir, 10))
		}
	}
}

// A folder without a configuration is named, and so is one that is not there.
func TestAFolderWithoutAConfiguration(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("empty", 0o755); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{"empty": "empty has no config.toml: give a run folder", "nosuch": "nosuch: there is no such run folder"} {
		if _, err := Config(dir); err == nil || err.Error() != want || cli.ExitStatus(err) != cli.StatusUsage {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
