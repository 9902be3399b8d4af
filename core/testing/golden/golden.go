// Package golden is for tests that compare numbers with those of another program. One file,
// written by the test, holds the input of the other program; another file holds its results.
// Because the input is stored, a test whose own part has changed says so instead of comparing
// with results for a different input.
package golden

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"testing"
)

var write = flag.Bool("golden", false, "write what the other program computes from")

// Writing says whether the test is run to write the input of the other program.
func Writing() bool { return *write }

// Given compares the input of the other program, in a JSON file, with in, or writes it if
// Writing.
func Given(t *testing.T, file string, in any) {
	t.Helper()
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if *write {
		if err := os.WriteFile(file, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.TrimSpace(have), b) {
		t.Fatalf("%s: the other program was given something else: run the test with -golden, then that program", file)
	}
}

// Read reads the results of the other program.
func Read(t *testing.T, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

// Near compares a number with another one. The error may be up to tolerance·(1+|want|).
func Near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
