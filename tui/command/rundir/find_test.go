package rundir

import (
	"os"
	"path/filepath"
	"testing"
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
