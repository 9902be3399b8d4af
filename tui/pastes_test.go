package tui

import (
	"context"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// limited is what Pastes leaves of a text that comes in pieces of at most the given size.
func limited(text string, most int) string {
	var l Pastes
	var out strings.Builder
	r := rand.New(rand.NewPCG(uint64(len(text)), uint64(most)))
	for rest := []byte(text); len(rest) > 0; {
		n := 1 + r.IntN(min(len(rest), most))
		out.Write(rest[:l.Limit(rest[:n:n])])
		rest = rest[n:]
	}
	return out.String()
}

// A long paste ends at the limit, wherever its own end and pieces of one stand; what comes before and
// after is as it was.
func TestLongPastesAreShortened(t *testing.T) {
	full := strings.Repeat("é", pasteLimit/2)
	in := func(text string) string { return pasteBegin + text + pasteEnd }
	for name, c := range map[string]struct{ sent, want string }{
		"keys":           {"jk\x1b[A\x1b\x1b[B\x1b[200", "jk\x1b[A\x1b\x1b[B\x1b[200"},
		"short":          {in("a") + "j" + in("\x1b[201") + "k", in("a") + "j" + in("\x1b[201") + "k"},
		"just as long":   {in(full) + "j", in(full) + "j"},
		"a letter more":  {in(full+"x") + "j", in(full) + "j"},
		"much more":      {"i" + in(strings.Repeat(full, 3)) + "j" + in("b"), "i" + in(full) + "j" + in("b")},
		"without an end": {pasteBegin + full + full, in(full)},
		"escapes":        {pasteBegin + full + strings.Repeat("\x1b", 100) + "j", in(full)},
		"half an end":    {in(full[:pasteLimit-3]+"\x1b[2"+"xyz") + "j", in(full[:pasteLimit-3]+"\x1b[2") + "j"},
	} {
		for _, most := range []int{1, 7, 200} {
			if got := limited(c.sent, most); got != c.want {
				t.Errorf("%s, at most %d bytes at a time: %d bytes, want %d; they end %q, want %q", name, most, len(got), len(c.want), got[max(0, len(got)-20):], c.want[max(0, len(c.want)-20):])
			}
		}
	}
	for more := range 2 * len(pasteEnd) { // an end across the limit
		text := full[more:] + strings.Repeat("x", len(pasteEnd))
		want := text[:min(len(text), pasteLimit)]
		if got := limited(in(text)+"j", 100); got != in(want)+"j" {
			t.Errorf("%d bytes are %d with their marks", len(text), len(got)-1)
		}
	}
}

// Keyboards of this process and of others shorten pastes.
func TestKeyboardsShortenPastes(t *testing.T) {
	sent := pasteBegin + strings.Repeat("x", 2*pasteLimit) + pasteEnd + "j"
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		io.WriteString(w, sent)
		w.Close()
	}()
	for name, from := range map[string]io.Reader{
		"here":      &screenInput{File: r, lost: func(error) {}},
		"elsewhere": newKeyboard(context.Background(), strings.NewReader(sent), nil, func(error) {}),
	} {
		got, err := io.ReadAll(from)
		if want := pasteBegin + strings.Repeat("x", pasteLimit) + pasteEnd + "j"; string(got) != want || err != nil {
			t.Errorf("%s: %d bytes, want %d; %v", name, len(got), len(want), err)
		}
	}
}
