package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestStatus(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want int
	}{
		{nil, StatusDone},
		{errors.New("x"), StatusFailed},
		{fmt.Errorf("y: %w", Usagef("x")), StatusUsage},
	} {
		if got := ExitStatus(tt.err); got != tt.want {
			t.Errorf("status(%v) = %d, want %d", tt.err, got, tt.want)
		}
	}
}

// However long the value in an error is, its line is one that people read, with what stands before and
// after the value; ordinary lines stay.
func TestALineIsBounded(t *testing.T) {
	path := "/" + strings.Repeat("folder/", 50)
	if got := Line(errors.New("read " + path + ":\nno such file")); got != "read "+path+": no such file" {
		t.Errorf("%s", got)
	}
	for _, value := range []string{strings.Repeat("x", 100_000), strings.Repeat("ü", 50_000), strings.Repeat("x ", 50_000), "\"" + strings.Repeat("y\n", 50_000) + "\""} {
		got := Line(fmt.Errorf("preset a.toml: vector = %s: want row or transition", value))
		if len(got) > maxLine+100 || !utf8.ValidString(got) || strings.Contains(got, "\n") ||
			!strings.HasPrefix(got, "preset a.toml: vector = ") || !strings.HasSuffix(got, ": want row or transition") {
			t.Errorf("%d bytes: %.500s", len(got), got)
		}
	}
}
