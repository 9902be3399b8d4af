package query

import (
	"context"
	"errors"
	"image"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgrlab/tui/picture"
)

// terminals answer as they were recorded (xterm 379 with and without -ti vt340 and 398 with it,
// kitty 0.26.5 and 0.41.1, foot 1.13.1 and 1.21.0, mlterm 3.9.0, Konsole 22.12.3 and 25.04.2, tmux
// 3.3a), and others as their documentation and code specify.
var terminals = []struct {
	name string
	says map[string]string // answers by question
	cell image.Point       // the size that the system reports
	want picture.Protocol
	size image.Point
}{
	{"kitty 0.41", map[string]string{
		">0q": "\x1bP>|kitty(0.41.1)\x1b\\", "c": "\x1b[?62;c", "16t": "\x1b[6;18;9t", "_G": "\x1b_Gi=31;OK\x1b\\",
	}, image.Pt(9, 18), picture.Kitty, image.Pt(9, 18)},
	{"kitty 0.39", map[string]string{
		">0q": "\x1bP>|kitty(0.39.1)\x1b\\", "c": "\x1b[?62;52;c", "16t": "\x1b[6;18;9t", "_G": "\x1b_Gi=31;OK\x1b\\",
	}, image.Point{}, picture.Kitty, image.Pt(9, 18)},
	{"kitty without placeholders", map[string]string{
		">0q": "\x1bP>|kitty(0.26.5)\x1b\\", "c": "\x1b[?62;c", "16t": "\x1b[6;18;9t", "_G": "\x1b_Gi=31;OK\x1b\\",
	}, image.Point{}, picture.Characters, image.Point{}},
	{"kitty that takes no image", map[string]string{
		">0q": "\x1bP>|kitty(1.0.0)\x1b\\", "c": "\x1b[?62;c", "16t": "\x1b[6;18;9t", "_G": "\x1b_Gi=31;ENOTSUPPORTED:no\x1b\\",
	}, image.Point{}, picture.Characters, image.Pt(9, 18)},
	{"ghostty", map[string]string{
		">0q": "\x1bP>|ghostty 1.1.3\x1b\\", "c": "\x1b[?62;22;52c", "16t": "\x1b[6;20;10t", "_G": "\x1b_Gi=31;OK\x1b\\",
	}, image.Pt(11, 22), picture.Kitty, image.Pt(11, 22)},
	{"WezTerm", map[string]string{
		">0q": "\x1bP>|WezTerm 20240203-110809-5046fc22\x1b\\", "c": "\x1b[?65;4;6;18;22c", "16t": "\x1b[6;17;8t", "?1;1;0S": "\x1b[?1;0;65536S", "_G": "\x1b_Gi=31;OK\x1b\\",
	}, image.Point{}, picture.Sixel, image.Pt(8, 17)},
	{"foot 1.13", map[string]string{
		">0q": "\x1bP>|foot(1.13.1)\x1b\\", "c": "\x1b[?62;4;22c", "16t": "\x1b[6;14;7t", "?1;1;0S": "\x1b[?1;0;1024S",
	}, image.Pt(7, 14), picture.Sixel, image.Pt(7, 14)},
	{"foot 1.21", map[string]string{
		">0q": "\x1bP>|foot(1.21.0)\x1b\\", "c": "\x1b[?62;4;22;28c", "16t": "\x1b[6;13;6t", "?1;1;0S": "\x1b[?1;0;1024S",
	}, image.Pt(6, 13), picture.Sixel, image.Pt(6, 13)},
	{"mlterm", map[string]string{ // it has no name
		"c": "\x1b[?63;1;2;3;4;6;7;15;18;22;29c", "16t": "\x1b[6;19;10t", "?1;1;0S": "\x1b[?1;0;1024S",
	}, image.Pt(10, 19), picture.Sixel, image.Pt(10, 19)},
	{"Konsole 22.12", map[string]string{
		">0q": "\x1bP>|Konsole 22.12.3\x1b\\", "c": "\x1b[?62;1;4c", "16t": "\x1b[6;17;8t", "?1;1;0S": "\x1b[?1;0;256S", "_G": "\x1b_Gi=31;OK\x1b\\",
	}, image.Pt(8, 17), picture.Characters, image.Pt(8, 17)},
	{"Konsole 25.04", map[string]string{
		">0q": "\x1bP>|Konsole 25.04.2\x1b\\", "c": "\x1b[?62;1;4c", "16t": "\x1b[6;14;7t", "?1;1;0S": "\x1b[?1;0;256S", "_G": "\x1b_Gi=31;OK\x1b\\",
	}, image.Pt(7, 14), picture.Characters, image.Pt(7, 14)},
	{"xterm", map[string]string{
		">0q": "\x1bP>|XTerm(379)\x1b\\", "c": "\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c", "?1;1;0S": "\x1b[?1;3S",
	}, image.Pt(6, 13), picture.Characters, image.Pt(6, 13)},
	{"xterm 398 -ti vt340", map[string]string{
		">0q": "\x1bP>|XTerm(398)\x1b\\", "c": "\x1b[?63;1;2;4;6;9;15;16;22;28c", "?1;1;0S": "\x1b[?1;0;1024S",
	}, image.Pt(8, 15), picture.Sixel, image.Pt(8, 15)},
	{"xterm -ti vt340", map[string]string{
		">0q": "\x1bP>|XTerm(379)\x1b\\", "c": "\x1b[?63;1;2;4;6;9;15;16;22;28c", "?1;1;0S": "\x1b[?1;0;1024S",
	}, image.Pt(6, 13), picture.Sixel, image.Pt(6, 13)},
	{"xterm -ti vt340 far away", map[string]string{ // neither it nor the system reports the size of a cell
		">0q": "\x1bP>|XTerm(379)\x1b\\", "c": "\x1b[?63;1;2;4;6;9;15;16;22;28c", "?1;1;0S": "\x1b[?1;0;1024S",
	}, image.Point{}, picture.Characters, image.Point{}},
	{"a VT340", map[string]string{
		"c": "\x1b[?63;1;2;4;6;9;15c", "16t": "\x1b[6;20;10t", "?1;1;0S": "\x1b[?1;0;16S",
	}, image.Point{}, picture.Characters, image.Pt(10, 20)},
	{"tmux", map[string]string{">0q": "\x1bP>|tmux 3.3a\x1b\\", "c": "\x1b[?1;2c"}, image.Point{}, picture.Characters, image.Point{}},
	{"tmux with sixels", map[string]string{
		">0q": "\x1bP>|tmux 3.4\x1b\\", "c": "\x1b[?1;2;4c", "16t": "\x1b[6;20;10t",
	}, image.Pt(10, 20), picture.Characters, image.Pt(10, 20)},
	{"a liar", map[string]string{
		"c": "\x1b[?62;4c", "16t": "\x1b[6;100000;100000t", "?1;1;0S": "\x1b[?1;0;256S",
	}, image.Point{}, picture.Characters, image.Point{}},
	{"a liar with kitty's protocol", map[string]string{
		">0q": "\x1bP>|kitty(0.41.1)\x1b\\", "c": "\x1b[?62;c", "16t": "\x1b[6;18;99999999999999999999t", "_G": "\x1b_Gi=31;OK\x1b\\",
	}, image.Point{}, picture.Kitty, image.Point{}},
	{"VT100", map[string]string{"c": "\x1b[?1;2c"}, image.Point{}, picture.Characters, image.Point{}},
}

// keyboard is a terminal that answers questions, in pieces, with keys between them.
type keyboard struct {
	says   map[string]string
	asker  *Asker
	typed  string // one key before each answer
	passed strings.Builder
	all    strings.Builder // all questions
	pieces *rand.Rand
}

func (k *keyboard) Write(p []byte) (int, error) {
	k.all.Write(p)
	var answers []byte
	for _, question := range strings.Split(string(p), "\x1b")[1:] {
		for q, a := range k.says {
			if strings.HasPrefix(strings.TrimPrefix(question, "["), q) {
				if k.typed != "" {
					answers, k.typed = append(answers, k.typed[0]), k.typed[1:]
				}
				answers = append(answers, a...)
			}
		}
	}
	k.send(answers)
	return len(p), nil
}

// send passes on bytes as they may be read: an answer is cut only where it cannot be a key any
// more.
func (k *keyboard) send(all []byte) {
	for len(all) > 0 {
		n := 1 + k.pieces.IntN(len(all))
		for n < len(all) && key(all[:n]) {
			n++
		}
		p := slices.Clone(all[:n])
		k.passed.Write(p[:k.asker.Keys(p)])
		all = all[n:]
	}
}

// key says whether the end of b may be a key; there the keyboard's reader waits.
func key(b []byte) bool {
	i := strings.LastIndexByte(string(b), 0x1b)
	if i < 0 {
		return false
	}
	for _, answers := range []string{"\x1b[?", "\x1bP>|", "\x1b_G"} {
		if strings.HasPrefix(string(b[i:]), answers) {
			return false
		}
	}
	return b[len(b)-1] != 't' && b[len(b)-1] != '\\'
}

func TestWhatTerminalsShow(t *testing.T) {
	for _, c := range terminals {
		for seed := range uint64(20) {
			a := New(time.Now, Patience)
			k := &keyboard{says: c.says, asker: a, typed: "jkl", pieces: rand.New(rand.NewPCG(seed, 0))}
			got, err := a.Ask(context.Background(), k)
			if err != nil {
				t.Fatal(err)
			}
			protocol, cell := got.Protocol(c.cell)
			if protocol != c.want || c.want != picture.Characters && cell != c.size {
				t.Errorf("%s: %v with cells of %v, want %v with %v; it said %+v", c.name, protocol, cell, c.want, c.size, got)
			}
			if passed := k.passed.String(); passed != "jkl"[:len(passed)] || len(passed) == 0 || a.Open() != 0 {
				t.Errorf("%s: as keys %q, still open %v", c.name, passed, a.Open())
			}
			if strings.HasPrefix(c.name, "tmux") && strings.Contains(k.all.String(), "\x1b_") {
				t.Errorf("%s is sent %q, which it shows as a title", c.name, k.all.String())
			}
		}
	}
}

// A terminal that does not answer is waited for until the end, and its answer is not taken for
// keys, however late it comes.
func TestSilence(t *testing.T) {
	now := time.Unix(1, 0)
	a := New(func() time.Time { return now }, Patience)
	ctx, cancel := context.WithCancel(context.Background())
	asked := make(chan struct{})
	ended := make(chan error)
	go func() {
		_, err := a.Ask(ctx, writer(func() { close(asked) }))
		ended <- err
	}()
	<-asked
	if a.Open() != Patience {
		t.Errorf("%v is left", a.Open())
	}
	for _, keys := range []string{"j", "\x1b[A", "\x1b", "\x1bP", "\x1b[200~text\x1b[201~", "\x1b[6~", "\x1b_", "é"} {
		p := []byte(keys)
		if got := string(p[:a.Keys(p)]); got != keys {
			t.Errorf("of the keys %q there are %q", keys, got)
		}
	}
	now = now.Add(Patience)
	if a.Open() != 0 {
		t.Errorf("%v is left", a.Open())
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	late := []byte("x\x1bP>|XTerm(379)\x1b\\\x1b[?64;1cy")
	if got := string(late[:a.Keys(late)]); got != "xy" {
		t.Errorf("a late answer is the keys %q", got)
	}
	var none *Asker
	if none.Open() != 0 || none.Keys([]byte("abc")) != 3 {
		t.Error("one that asks nothing takes keys")
	}
}

type writer func()

func (w writer) Write(p []byte) (int, error) {
	w()
	return len(p), nil
}
