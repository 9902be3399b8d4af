package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
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

// TestRegisters holds that AVX2 has its sixteen registers alone: the allocator knows
// those of AVX-512 too, and the assembler takes some instructions with them.
func TestRegisters(t *testing.T) {
	upper := regexp.MustCompile(`[XY](1[6-9]|2[0-9]|3[01])\b`)
	for _, s := range isas {
		files, err := s.generate()
		if err != nil {
			t.Fatal(err)
		}
		found := upper.Find(files[s.name+"_amd64.s"])
		if !s.wide() && found != nil {
			t.Errorf("%s uses %s", s.name, found)
		}
	}
}
