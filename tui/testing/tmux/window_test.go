package tmux

import "testing"

// Where a line is broken depends on the numbers in it.
func TestAwaitReadsAcrossLines(t *testing.T) {
	w := Open(t, 80, 24, `printf 'You said:\n   rises.\n'; exec sleep 3600`)
	w.Await("You said: rises.")
}
