package sweep

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The options of a profile in the settings come before those of the command line. An unknown
// profile is refused, and the refusal lists the known ones.
func TestProfile(t *testing.T) {
	home := t.TempDir()
	f := sweepFlags{on: onSlurm, profile: "gpu", callFlags: callFlags{sbatch: []string{"--time=1:00:00"}}}
	if err := f.readProfile(home); err == nil || !strings.Contains(err.Error(), "it has none") {
		t.Errorf("without settings: %v", err)
	}
	text := "[profile.gpu]\nsbatch = ['--partition=gpu', '--time=4:00:00']\n[profile.cpu]\nsbatch = ['words']\n"
	if err := os.WriteFile(filepath.Join(home, "settings.toml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := f.readProfile(home); err != nil || !slices.Equal(f.sbatch, []string{"--partition=gpu", "--time=4:00:00", "--time=1:00:00"}) {
		t.Errorf("%v: %q", err, f.sbatch)
	}
	f = sweepFlags{on: onSlurm, profile: "cpu"}
	if err := f.readProfile(home); err != nil {
		t.Fatal(err)
	}
	if err := f.checkPlace(); err == nil || !strings.Contains(err.Error(), "want an option of sbatch") {
		t.Errorf("a word that is no option: %v", err)
	}
	f = sweepFlags{on: onSlurm, profile: "tpu"}
	if err := f.readProfile(home); err == nil || !strings.Contains(err.Error(), "it has cpu, gpu") {
		t.Errorf("another name: %v", err)
	}
	f = sweepFlags{on: onHere, profile: "gpu"}
	if err := f.readProfile(home); err == nil {
		t.Error("a profile for a sweep here")
	}
}
