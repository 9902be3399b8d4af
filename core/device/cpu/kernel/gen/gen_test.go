package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestGenerated compares the committed assembly with what this program writes.
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

// TestRegisters checks that AVX2 uses only its sixteen registers: the allocator also has those of
// AVX-512, and the assembler accepts some instructions with them. It reads the committed files, which
// TestGenerated compares with what is written now.
func TestRegisters(t *testing.T) {
	upper := regexp.MustCompile(`[XY](1[6-9]|2[0-9]|3[01])\b`)
	for _, s := range isas {
		text, err := os.ReadFile(filepath.Join("..", s.name+"_amd64.s"))
		if err != nil {
			t.Fatal(err)
		}
		if found := upper.Find(text); !s.wide() && found != nil {
			t.Errorf("%s uses %s", s.name, found)
		}
	}
}
