package cli

import (
	"bytes"
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

// Only a terminal has a width.
func TestWriteTableToAFile(t *testing.T) {
	var b bytes.Buffer
	if err := WriteTable(&b, []string{"A", "B"}, [][]string{{"a", "b c"}}); err != nil || b.String() != "A  B\na  b c\n" {
		t.Errorf("%v, %q", err, b.String())
	}
}
