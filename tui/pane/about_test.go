package pane

import (
	"os"
	"path/filepath"
	"testing"

	"pgrlab/core/run"
)

// The forks of a run lie beside it, also where the run is named from within.
func TestForkFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, folder := range []string{dir, ".", "../a"} {
		if got, err := filepath.Abs(ForkFolder(run.Named(folder), "a-fork-1")); err != nil || got != dir+"-fork-1" {
			t.Errorf("of %s: %s, %v", folder, got, err)
		}
	}
	for _, name := range []string{"..", "b/c", "/b"} {
		if got := ForkFolder(dir, name); got != "" {
			t.Errorf("%s lies beside it, at %s", name, got)
		}
	}
}
