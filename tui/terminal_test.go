package tui

import (
	"context"
	"image"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/muesli/termenv"

	"pgrlab/tui/picture"
	"pgrlab/tui/theme"
)

func TestOutputIsSynchronized(t *testing.T) {
	r, w := pipe(t)
	out := &screenOutput{w, &frames{to: w, lost: func(error) {}}}
	if n, err := out.Write([]byte("frame")); n != 5 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if n, err := io.WriteString(out, "s"); n != 1 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	w.Close()
	got, err := io.ReadAll(r)
	if want := "\x1b[?2026hframe\x1b[?2026l\x1b[?2026hs\x1b[?2026l"; err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// kitty 0.41 shows black cells if placeholders and their image come in one update.
func TestPlaceholdersAreNotSynchronized(t *testing.T) {
	for protocol, want := range map[picture.Protocol]string{
		picture.Kitty: "\x1b[Hframe", picture.Sixel: "\x1b[?2026h\x1b[Hframe\x1b[?2026l",
	} {
		var got strings.Builder
		images := picture.NewImages()
		images.Use(protocol, image.Pt(9, 18))
		o := &frames{to: &got, lost: func(error) {}, images: images}
		if _, err := o.Write([]byte("\x1b[Hframe")); err != nil || got.String() != want {
			t.Errorf("%v: %q, %v; want %q", protocol, got.String(), err, want)
		}
	}
}

func TestWriteErrorIsAHangup(t *testing.T) {
	r, w := pipe(t)
	r.Close()
	w.Close()
	lost := newOnce()
	out := &screenOutput{w, &frames{to: w, lost: lost.do}}
	for range 2 {
		if _, err := out.Write([]byte("frame")); err == nil {
			t.Error("no error")
		}
	}
	if !lost.happened() {
		t.Error("the hang-up was not seen")
	}
}

func TestEndOfInputIsAHangup(t *testing.T) {
	r, w := pipe(t)
	lost := newOnce()
	in := &screenInput{File: r, lost: lost.do}
	if _, err := w.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 8)
	if n, err := in.Read(buf); n != 1 || err != nil || lost.happened() {
		t.Fatalf("%d, %v, hung up %v", n, err, lost.happened())
	}
	w.Close()
	if _, err := in.Read(buf); err != io.EOF || !lost.happened() {
		t.Errorf("%v, hung up %v", err, lost.happened())
	}
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

func TestRunNeedsATerminal(t *testing.T) {
	r, w := pipe(t)
	outcome, err := Run(context.Background(), Options{Input: r, Output: w})
	if outcome != Failed || err == nil || !strings.Contains(err.Error(), "pgrlab train") {
		t.Errorf("%v, %v", outcome, err)
	}
}

// variables is a set of environment variables.
type variables map[string]string

func (v variables) Getenv(key string) string { return v[key] }

func (v variables) Environ() []string {
	var out []string
	for k, s := range v {
		out = append(out, k+"="+s)
	}
	return out
}

func TestColoursFollowTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		env  variables
		want termenv.Profile
	}{
		{variables{"TERM": "xterm-256color", "COLORTERM": "truecolor"}, termenv.TrueColor},
		{variables{"TERM": "xterm-256color"}, termenv.ANSI256},
		{variables{"TERM": "linux"}, termenv.ANSI},
		{variables{"TERM": "xterm-256color", "NO_COLOR": "1"}, termenv.Ascii},
		{variables{"TERM": "dumb"}, termenv.Ascii},
	} {
		r := theme.NewRenderer(os.Stdout, c.env)
		if got := r.ColorProfile(); got != c.want {
			t.Errorf("%v: profile %v, want %v", c.env, got, c.want)
		}
		coloured := theme.New(r, theme.Unicode).Accent.On("x") != "x"
		if coloured != (c.want != termenv.Ascii) {
			t.Errorf("%v: coloured %v", c.env, coloured)
		}
	}
}

func TestBackground(t *testing.T) {
	for v, dark := range map[string]bool{"": true, "15;0": true, "0;15": false, "0;default;15": false, "7;8": true, "0;7": false} {
		if got := theme.DarkBackground(v); got != dark {
			t.Errorf("COLORFGBG=%q: dark %v", v, got)
		}
	}
}
