package main

import (
	"bytes"
	"strings"
	"testing"

	"pgrlab/core/lab"
	"pgrlab/tui/command"
)

// A fork of a run that is over needs a length of its own; one without is refused, with
// what to do, and nothing is made.
func TestForkOfAFinishedRunHasALength(t *testing.T) {
	d := setUp(t)
	var stderr bytes.Buffer
	train := func(args ...string) {
		t.Helper()
		stderr.Reset()
		if status, _ := pgrlab(t, d, &stderr, append([]string{"train", "--threads", "1"}, args...)...); status != command.StatusDone {
			t.Fatalf("status %d:\n%s", status, stderr.String())
		}
	}
	train("--preset", "tiny.toml", "--steps", "70", "--out", "whole")
	for _, c := range []struct {
		args []string
		says string // "": it is made
	}{
		{[]string{"whole"}, "--steps N"},
		{[]string{"whole", "--steps", "70"}, "want more"},
		{[]string{"whole", "--steps", "0"}, "want at least 1"},
		{[]string{"whole", "--steps", "80", "--out", "longer"}, ""},
	} {
		stderr.Reset()
		status, stdout := pgrlab(t, d, &stderr, append([]string{"fork"}, c.args...)...)
		said := stderr.String()
		switch {
		case c.says == "" && (status != command.StatusDone || stdout != "longer\n"):
			t.Errorf("fork %v: status %d: %s%s", c.args, status, stdout, said)
		case c.says != "" && (status != command.StatusUsage || stdout != "" || !strings.Contains(said, c.says) || strings.Count(said, "\n") != 1):
			t.Errorf("fork %v: status %d: %s%q", c.args, status, stdout, said)
		}
	}
	train("--resume", "longer")
	if n := types(t, "longer"); n[lab.TypeDone] != 1 || !strings.Contains(stderr.String(), "80 of 80 steps") {
		t.Errorf("%v:\n%s", n, stderr.String())
	}
}
