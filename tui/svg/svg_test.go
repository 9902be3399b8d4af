package svg

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestDraw(t *testing.T) {
	frame := "plain \x1b[1;38;2;1;2;3mbold & own\x1b[0m end\n\x1b[7minverse\x1b[27m\x1b[48;5;196m  \x1b[49m│\x1b[94;4mblue"
	got := string(Draw(frame, "a <title>"))
	for _, want := range []string{
		"<title>a &lt;title&gt;</title>",
		`fill="#d0d4d8" xml:space="preserve">plain</text>`,
		`fill="#010203" font-weight="bold" xml:space="preserve">&amp;</text>`,
		`<rect x="12" y="28" width="59.01" height="16" fill="#d0d4d8"/>`, // the background of inverse text
		`fill="#101418" xml:space="preserve">inverse</text>`,
		`<rect x="71.01" y="28" width="16.86" height="16" fill="#ff0000"/>`,
		`<text x="87.87" y="40" textLength="8.43" lengthAdjust="spacingAndGlyphs" fill="#d0d4d8" xml:space="preserve">│</text>`,
		`fill="#5c5cff" text-decoration="underline" xml:space="preserve">blue</text>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(got)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestIndexedColours(t *testing.T) {
	for n, want := range map[int]string{0: "#000000", 15: "#ffffff", 16: "#000000", 21: "#0000ff", 67: "#5f87af", 231: "#ffffff", 232: "#080808", 255: "#eeeeee", 256: ""} {
		if got := indexed(n); got != want {
			t.Errorf("colour %d is %q, want %q", n, got, want)
		}
	}
}
