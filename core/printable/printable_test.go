package printable

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// attacks are sequences that terminals carry out, and characters that turn text around
// or hide it.
var attacks = []string{
	"\x1b]0;title\x07", "\x1b]52;c;QQ==\x1b\\", "\x1b[2J", "\x9b2J", "\u009b2J", "\u0090q\u009c", "a\rb", "a\bb", "\x7f", "\x00",
	"\u202egnp.exe", "\u2066x\u2069", "\u200e", "\u200f", "\u061c", "\u2028", "\u2029", "\ufeff", "\U000e0041", "\xff\xfe", "\xe2\x80", "\ufffe",
}

// harmful says whether text holds what a terminal may carry out, or what no one sees.
func harmful(s string, allowed string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%q is not UTF-8", s)
	}
	for _, r := range s {
		if strings.ContainsRune(allowed, r) {
			continue
		}
		if unicode.Is(unicode.C, r) && r != '\u200c' && r != '\u200d' || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return fmt.Errorf("%q holds %U", s, r)
		}
	}
	return nil
}

func TestAttacksAreShownAsQuestionMarks(t *testing.T) {
	for _, a := range attacks {
		for _, s := range []string{a, "before " + a + " after", a + a} {
			if err := harmful(Line(s), ""); err != nil {
				t.Error(err)
			}
			if !strings.Contains(Line(s), "?") {
				t.Errorf("of %q nothing is to be seen: %q", s, Line(s))
			}
		}
	}
	for _, s := range []string{"", "runs/a b", "ω = 3 · 96 %", "ученик", "مثال", "می\u200cخواهم", "👩‍👩‍👧", "e\u0301", "日本"} {
		if got := Line(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
	if got := Line("a\nb\tc"); got != "a b c" {
		t.Errorf("%q", got)
	}
	if got := Line("\U0010eeee"); got != "?" {
		t.Errorf("a cell of an image in a line is %q", got)
	}
	if got := Text("a\nb\tc\x1b"); got != "a\nb\tc?" {
		t.Errorf("%q", got)
	}
}

func TestColoursOfAFrameStay(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[1;38;5;12mx\x1b[0m":       "\x1b[1;38;5;12mx\x1b[0m",
		"\x1b[38:2::1:2:3mx\x1b[m\ny":   "\x1b[38:2::1:2:3mx\x1b[m\ny",
		"\x1b[31mred\x1b]0;t\x07\x1b[m": "\x1b[31mred?]0;t?\x1b[m",
		"\x1b[2J\x1b[":                  "?[2J?[",
		"\x1b[?25lm":                    "?[?25lm",
		"\x1b\x1b[m":                    "?\x1b[m",
		"\U0010eeee\u0305\U0010eeef":    "\U0010eeee\u0305?", // a cell of an image
	} {
		if got := Styled(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

type part struct {
	Name   string
	Inside *part
	Any    any
	All    []string
	ByName map[string]any
	Rows   []float32
	hidden string
}

func TestEveryStringOfAValueIsCleaned(t *testing.T) {
	dirty := func() *part {
		return &part{Name: "a\x1b", Any: "b\x1b", All: []string{"c\x1b"}, Rows: []float32{1}, hidden: "h",
			ByName: map[string]any{"k\x1b": "v\x1b", "list": []any{"x\x1b", map[string]any{"y\x1b": 1.0}}, "none": nil}}
	}
	p := dirty()
	p.Inside = dirty()
	p.Any = *dirty()
	Fields(p)
	if text := fmt.Sprintf("%+v %+v", p, p.Inside); strings.Contains(text, "\x1b") || strings.Count(text, "?") < 18 {
		t.Errorf("%q", text)
	}
	if text := Foreign(p); text != "" {
		t.Errorf("%q is left", text)
	}
	if d := dirty(); Foreign(d) == "" || Foreign(d) != Foreign(dirty()) {
		t.Errorf("%q was found", Foreign(d))
	}
	if d := (&part{All: []string{"fine", "x\x1b"}}); Foreign(d) != "x\x1b" || d.All[1] != "x\x1b" {
		t.Errorf("%q was found in %q", Foreign(d), d.All)
	}
	var none *part
	Fields(none)
	Fields(nil)
}

// Whatever is written, in whatever pieces, comes out clean, and clean text comes out as
// it was.
func FuzzNothingHarmfulComesOut(f *testing.F) {
	for i, a := range attacks {
		f.Add(a, uint8(i))
	}
	f.Add("\x1b[1mbold\x1b[0m é", uint8(3))
	f.Fuzz(func(t *testing.T, s string, at uint8) {
		if err := harmful(Line(s), ""); err != nil {
			t.Error(err)
		}
		if err := harmful(Text(s), "\n\t"); err != nil {
			t.Error(err)
		}
		if Line(Line(s)) != Line(s) || Text(Text(s)) != Text(s) || Styled(Styled(s)) != Styled(s) {
			t.Errorf("%q is cleaned differently the second time", s)
		}
		if harmful(s, "\n\t") == nil && Text(s) != s {
			t.Errorf("%q needs nothing and became %q", s, Text(s))
		}
		plain := Styled(s)
		for i := strings.IndexByte(plain, escape); i >= 0; i = strings.IndexByte(plain, escape) {
			n := style(plain[i+1:])
			if n == 0 {
				t.Fatalf("%q holds another sequence than a style", plain)
			}
			plain = plain[:i] + plain[i+1+n:]
		}
		if err := harmful(plain, "\n\t"); err != nil {
			t.Error(err)
		}
		var out bytes.Buffer
		w := NewWriter(&out)
		cut := int(at) % (len(s) + 1)
		for _, piece := range []string{s[:cut], s[cut:]} {
			if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
		}
		if whole := Text(s); out.String() != whole && !strings.HasPrefix(whole, out.String()) {
			t.Errorf("written in two pieces, %q became %q, want %q", s, out.String(), whole)
		}
	})
}
