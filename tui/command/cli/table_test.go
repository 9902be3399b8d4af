package cli

import (
	"bytes"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	rows := [][]string{
		{"KNOB", "RANGE"},
		{"ω", "a number from 0 to 10", "pull towards high relevance"},
		{"hold", "one of batch, real", ""},
		{"none"},
	}
	whole := `KNOB  RANGE
ω     a number from 0 to 10  pull towards high relevance
hold  one of batch, real
none
`
	narrow := `KNOB  RANGE
ω     a number from 0    pull towards high
      to 10              relevance
hold  one of batch,
      real
none
`
	for width, want := range map[int]string{0: whole, 56: whole, 42: narrow, 39: whole} {
		if got := table(rows, width); got != want {
			t.Errorf("in %d columns:\n%s\nwant\n%s", width, got, want)
		}
	}
}

// A table on a narrow terminal lacks the columns that can be spared, as few as possible.
func TestColumnsThatCanBeSpared(t *testing.T) {
	heading, rows := []string{"PID", "STATE", "DEVICE", "RUN"}, [][]string{{"4242", "running", "cuda:0", "runs/a"}, {"7", "?", "-", "of another version"}}
	for width, want := range map[int]string{0: "PID STATE DEVICE RUN", 41: "PID STATE DEVICE RUN", 40: "PID STATE RUN", 33: "PID STATE RUN", 32: "PID RUN", 5: "PID RUN"} {
		h, r := without(heading, rows, width, []string{"DEVICE", "STATE"})
		if got := strings.Join(h, " "); got != want || len(r) != 2 || len(r[0]) != len(h) || r[0][len(h)-1] != "runs/a" {
			t.Errorf("in %d columns: %s, want %s; %v", width, got, want, r)
		}
	}
	if len(rows[0]) != 4 || rows[0][2] != "cuda:0" {
		t.Errorf("the rows are now %v", rows)
	}
}

// Only a terminal has a width.
func TestWriteTableToAFile(t *testing.T) {
	var b bytes.Buffer
	if err := WriteTable(&b, []string{"A", "B"}, [][]string{{"a", "b c"}}); err != nil || b.String() != "A  B\na  b c\n" {
		t.Errorf("%v, %q", err, b.String())
	}
}
