package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every file of a run stays as it is, whatever name or link leads to it, and a folder of a run's data
// takes no others. Beside a run, files and folders are written.
func TestNothingIsWrittenOverARun(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	own := []string{"config.toml", "events.jsonl", "events.tail-1.jsonl", "policy.bin", "policy-2.bin", "lock", "lease.json", "attach.json", "data/a.gz", "checkpoints/9.ckpt"}
	for _, name := range own {
		path := filepath.Join("r", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range own {
		path := filepath.Join("r", name)
		link := strings.ReplaceAll(name, "/", "-") + ".csv"
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		for _, to := range []string{path, link, filepath.Join(dir, path)} {
			err := WriteFile(to, func(w io.Writer) error { _, err := io.WriteString(w, "other"); return err })
			if err == nil || !strings.Contains(err.Error(), "belongs to a run") {
				t.Errorf("%s: %v", to, err)
			}
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != name {
			t.Errorf("%s is %q, %v", path, text, err)
		}
	}
	for _, to := range []string{"r/data/new.csv", "r/checkpoints/new.npz", "r/policy-7.bin"} {
		if err := WriteFile(to, func(io.Writer) error { return nil }); err == nil {
			t.Errorf("%s is written", to)
		}
	}
	for to, fine := range map[string]bool{"r/report": true, "data": true, "r/data": false, "r/checkpoints/x": false, "a.GIF": false, "2026.05.01": true, "r/lock": false} {
		if err := MakeFolder(to, "pictures"); (err == nil) != fine {
			t.Errorf("%s: %v", to, err)
		}
	}
	if err := WriteFile("r/numbers.csv", func(io.Writer) error { return nil }); err != nil {
		t.Error(err)
	}
}

// Of files the ending counts, of devices and pipes it does not.
func TestEnding(t *testing.T) {
	for path, fine := range map[string]bool{"a.npz": true, "A.NPZ": true, "a.npy": false, "npz": true, "a.npz.gz": false, "a": true, "a.": false, os.DevNull: true} {
		if err := Ending("out", path, ".npz", "rows"); (err == nil) != fine {
			t.Errorf("%s: %v", path, err)
		}
	}
}
