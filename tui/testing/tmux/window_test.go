package tmux

import "testing"

// Await finds text across line breaks, since the place of a break depends on the numbers in the
// line.
func TestAwaitReadsAcrossLines(t *testing.T) {
	w := Open(t, 80, 24, `printf 'You said:\n   rises.\n'; exec sleep 3600`)
	w.Await("You said: rises.")
}
