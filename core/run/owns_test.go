package run

import (
	"os"
	"path/filepath"
	"testing"
)

// Every file that a run writes is its own; the same names elsewhere, and other names beside a run,
// are free.
func TestWhatARunOwns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", "r") // a folder named data that belongs to no run
	f, err := Create(dir, []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.WriteCheckpoint(&Checkpoint{Header: Header{Step: 9, Position: "9", Journal: EmptyMark()}}); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !Owns(path) {
			t.Errorf("%s is free", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"events.jsonl": true, "events.tail-2.jsonl": true, "policy.bin": true, "policy-3.bin": true, "lease.json": true, "attach.json": true, "Config.toml": true,
		"data": true, "data/x.npz": true, "checkpoints/a/b.csv": true, "./x/../lock": true,
		"x.npz": false, "policy.safetensors": false, "report/data/x.svg": false, "../config.toml": false, "../x.csv": false, "events.csv": false,
	} {
		if got := Owns(filepath.Join(dir, name)); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
