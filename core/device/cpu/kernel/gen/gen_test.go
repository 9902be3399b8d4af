package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestGenerated holds the committed assembly to what this program writes.
func TestGenerated(t *testing.T) {
	for _, s := range append(slices.Clone(isas), tiles) {
		files, err := s.generate()
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range files {
			got, err := os.ReadFile(filepath.Join("..", name))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s is not what gen writes: run go generate ./core/device/cpu/kernel", name)
			}
		}
	}
}
