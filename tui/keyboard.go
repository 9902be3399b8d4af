package tui

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
	"unicode/utf8"

	"pgrlab/tui/query"
)

// escapeWait is how long the rest of a key may take to come. A key of several bytes can arrive in
// pieces on a slow line. Most such keys begin with the byte that the key esc sends, so a lone esc
// can be recognised only when nothing follows.
const escapeWait = 50 * time.Millisecond

// screenInput is the keyboard of this process; the end of its file is a hang-up.
type screenInput struct {
	*os.File
	lost   func(error)
	asker  *query.Asker
	pastes Pastes
}

func (i *screenInput) Read(p []byte) (int, error) {
	n, err := readKeys(i.File, func() bool { return HasInput(i.File, escapeWait) }, p, i.lost)
	return i.pastes.Limit(p[:i.asker.Keys(p[:n])]), err
}

// keyboard is a keyboard that does not belong to this process.
type keyboard struct {
	pieces <-chan piece
	rest   []byte
	err    error
	lost   func(error)
	asker  *query.Asker
	pastes Pastes
}

// piece is the result of one read of a keyboard.
type piece struct {
	bytes []byte
	err   error
}

// newKeyboard reads from a keyboard until its input or ctx ends.
func newKeyboard(ctx context.Context, from io.Reader, asker *query.Asker, lost func(error)) *keyboard {
	pieces := make(chan piece)
	go func() {
		defer close(pieces)
		for {
			buf := make([]byte, 256)
			n, err := from.Read(buf)
			select {
			case pieces <- piece{buf[:n], err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return &keyboard{pieces: pieces, lost: lost, asker: asker}
}

// Read reads whole keys.
func (k *keyboard) Read(p []byte) (int, error) {
	n, err := readKeys(readerFunc(k.next), k.more, p, k.lost)
	return k.pastes.Limit(p[:k.asker.Keys(p[:n])]), err
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// next returns what has come, or waits for it.
func (k *keyboard) next(p []byte) (int, error) {
	if len(k.rest) == 0 && k.err == nil {
		p, open := <-k.pieces
		k.take(p, open)
	}
	n := copy(p, k.rest)
	k.rest = k.rest[n:]
	if n == 0 {
		return 0, k.err
	}
	return n, nil
}

// take keeps a piece; open is false when there are no more pieces.
func (k *keyboard) take(p piece, open bool) {
	if k.rest, k.err = p.bytes, p.err; !open {
		k.err = io.EOF
	}
}

// settle waits for answers that are still due when the terminal is given back. Another reader of
// the keyboard may still be running; either may get the answers.
func (k *keyboard) settle() {
	left := k.asker.Open()
	if left == 0 {
		return
	}
	patience := time.NewTimer(left)
	defer patience.Stop()
	for {
		select {
		case p, open := <-k.pieces:
			if k.asker.Keys(p.bytes); !open {
				return
			}
		case <-k.asker.Answered():
			return
		case <-patience.C:
			return
		}
	}
}

// more says whether there is more to read, now or within escapeWait.
func (k *keyboard) more() bool {
	if len(k.rest) > 0 || k.err != nil {
		return len(k.rest) > 0
	}
	t := time.NewTimer(escapeWait)
	defer t.Stop()
	select {
	case p, open := <-k.pieces:
		k.take(p, open)
		return len(k.rest) > 0
	case <-t.C:
		return false
	}
}

// readKeys reads from a keyboard, and calls lost at its end. The result ends with a whole key as
// long as more says that the rest of one is coming, because the program takes the end of a read for
// the end of a key.
func readKeys(from io.Reader, more func() bool, p []byte, lost func(error)) (int, error) {
	n, err := from.Read(p[:(len(p)+1)/2]) // the second half of p has room for the rest of a key
	for err == nil && n < len(p)-1 && unfinished(p[:n]) && more() {
		var k int
		k, err = from.Read(p[n : n+1])
		n += k
	}
	if n > 0 {
		return n, nil // an error comes again with the next read
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		if errors.Is(err, io.EOF) {
			err = io.EOF
		}
		lost(err)
	}
	return n, err
}

const escape = 0x1b

// unfinished says whether b ends inside a key: in a character of several bytes, or in an escape
// sequence (ECMA-48: CSI with its parameters, SS3, alt with a character, and the strings that a
// terminal answers with).
func unfinished(b []byte) bool {
	const longest = 128 // of an escape sequence
	for i := len(b) - 1; i >= 0 && i >= len(b)-longest; i-- {
		if b[i] == escape {
			return unfinishedSequence(b[i+1:])
		}
	}
	return unfinishedCharacter(b)
}

// unfinishedSequence says whether more must follow an escape and tail.
func unfinishedSequence(tail []byte) bool {
	if len(tail) == 0 {
		return true
	}
	switch tail[0] {
	case 'O':
		return len(tail) == 1 || unfinishedCharacter(tail[2:])
	case 'P', '_': // a name or an answer to an image, which ends with an escape sequence of its own; otherwise a key
		return begins(tail, "P>|") || begins(tail, "_G")
	case '[':
	default:
		return unfinishedCharacter(tail)
	}
	for i, c := range tail[1:] {
		switch {
		case i == 0 && c == '[': // a key of the Linux console: one more letter follows
			return len(tail) == 2 || unfinishedCharacter(tail[3:])
		case i == 0 && c == 'M': // an X10 mouse event: three more bytes follow
			return len(tail) < 5 || unfinishedCharacter(tail[5:])
		case c >= 0x40 && c <= 0x7e:
			return unfinishedCharacter(tail[i+2:])
		case c < 0x20 || c > 0x7e:
			return false // not an escape sequence
		}
	}
	return true
}

// begins says whether b begins with text, as far as both go.
func begins(b []byte, text string) bool {
	n := min(len(b), len(text))
	return string(b[:n]) == text[:n]
}

// unfinishedCharacter says whether b ends inside a character.
func unfinishedCharacter(b []byte) bool {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			return !utf8.FullRune(b[i:])
		}
	}
	return false
}
