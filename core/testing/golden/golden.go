// Package golden is for tests that hold numbers to those of another program: what that was
// given stands in a file that the test writes, what it computed in another. The files say
// what the other program was given, so that a test whose own part has changed says so instead
// of comparing with numbers of something else.
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

// Writing says whether the test is run to write what the other program is given.
func Writing() bool { return *write }

// Given holds what the other program was given, in a JSON file, to what the test has; or
// writes it.
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

// Read reads what the other program computed.
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

// Near holds a number to another one, with a tolerance that is relative above 1.
func Near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
