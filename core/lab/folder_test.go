package lab

import (
	"testing"

	"pgrlab/core/run"
)

// created returns a new run folder whose configuration sets only a seed.
func created(t testing.TB, dir string) *run.Folder {
	t.Helper()
	return createdWith(t, dir, []byte("seed = 7\n"))
}

// createdWith returns a new run folder with a configuration as TOML.
func createdWith(t testing.TB, dir string, doc []byte) *run.Folder {
	t.Helper()
	folder, err := run.Create(dir, doc)
	if err != nil {
		t.Fatal(err)
	}
	return folder
}
