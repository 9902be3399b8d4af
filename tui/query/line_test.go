package query

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A line between a program that asks and its terminal knows when an answer is due, in whatever
// pieces both sides arrive, and with keys and text between them.
func TestWhatPassesOnALine(t *testing.T) {
	const asks = "text\x1b[31m\x1b[>0q\x1b[c more \x1b[2c"
	const says = "j\x1b[A\x1bP>|foot(1.21.0)\x1b\\k\x1b[?62;4;22;28;29c\x1b[6;14;7t\x1b"
	pieces := rand.New(rand.NewPCG(1, 0))
	for range 200 {
		now := time.Unix(1, 0)
		l := NewLine(func() time.Time { return now })
		pass(pieces, asks, l.Sent)
		if l.Open() != Patience {
			t.Fatalf("%v left", l.Open())
		}
		now = now.Add(Patience / 2)
		pass(pieces, asks, l.Sent)
		pass(pieces, says, l.Received)
		if l.Open() != Patience {
			t.Fatalf("%v left after one answer of two", l.Open())
		}
		pass(pieces, says, l.Received)
		if l.Open() != 0 {
			t.Fatalf("%v left", l.Open())
		}
		pass(pieces, says, l.Received) // none was asked for
		pass(pieces, asks, l.Sent)
		if now = now.Add(2 * Patience); l.Open() != 0 {
			t.Fatalf("%v left of a question of long ago", l.Open())
		}
	}
	if got, want := string(OnlyAnswers([]byte(says))), "\x1bP>|foot(1.21.0)\x1b\\\x1b[?62;4;22;28;29c\x1b[6;14;7t"; got != want {
		t.Errorf("answers %q, want %q", got, want)
	}
}

// pass passes text on in pieces.
func pass(pieces *rand.Rand, text string, on func([]byte)) {
	for len(text) > 0 {
		n := 1 + pieces.IntN(len(text))
		on([]byte(text[:n]))
		text = text[n:]
	}
}
