// Package golden is for tests that compare numbers with those of another program. One file,
// written by the test, holds the input of the other program; another file holds its results.
// Because the input is stored, a test whose own part has changed says so instead of comparing
// with results for a different input.
package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"reflect"
	"strings"
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

// Read reads the results of the other program. Unless Writing, the file must have all that into is made
// for.
func Read(t *testing.T, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var has any
	if err := errors.Join(json.Unmarshal(b, into), json.Unmarshal(b, &has)); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if lacks := missing("it", reflect.TypeOf(into).Elem(), has); len(lacks) > 0 && !*write {
		t.Fatalf("%s lacks numbers that the test compares: %s", file, strings.Join(lacks, ", "))
	}
}

// Near compares a number with another one. The error may be up to tolerance·(1+|want|).
func Near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
