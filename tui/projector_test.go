package tui

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"pgrlab/core/testing/racing"
	"pgrlab/tui/pane"
	"pgrlab/tui/pane/fans"
)

// projected is a screen on a projector with forks under way.
func projected(t *testing.T, w, h int) *screen {
	t.Helper()
	s, n := forking(t, w, h)
	s.still()
	s.typeLine("projector on")
	s.typeLine("stage guidance 3")
	s.Update(keyMsg("f"))
	s.Update(keyMsg("4"))
	s.settleForks()
	for i, c := range n.children {
		n.train(c, 4, func(at int) float64 { return 300 + float64(20*i) + float64(40*at) })
	}
	s.clock = s.clock.Add(fans.ForkEvery)
	s.settleForks()
	s.Update(polled{})
	s.press("esc", "1", "down", "right")
	return s
}

func TestGoldenProjector(t *testing.T) {
	for _, size := range []struct{ w, h int }{{160, 45}, {80, 24}} {
		golden(t, fmt.Sprintf("projector-%dx%d", size.w, size.h), projected(t, size.w, size.h).View())
	}
	s := running(t, 160, 45, 24_000)
	before := s.View()
	s.typeLine("projector on")
	s.typeLine("projector off")
	s.press("down", "up")
	if s.View() != before {
		t.Errorf("after the projector:\n%s", s.View())
	}
}

// On a projector the sentence speaks of what the cursor stands on.
func TestTheSentenceSpeaksOfTheCursor(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.typeLine("projector on")
	s.press("i", "2", "left")
	s.contains(t, "The cursor: return 384 at 23,000: ", "┃")
	s.press("esc")
	if strings.Contains(s.View(), "The cursor: ") {
		t.Errorf("without a cursor:\n%s", s.View())
	}
}

// Each key that acts is named at the end of the last line.
func TestEachKeyOnAProjectorIsNamed(t *testing.T) {
	racing.Skip(t)
	start := running(t, 160, 45, 24_000)
	seen := 0
	for i := range start.palette.keys {
		for _, key := range start.palette.keys[i].Keys {
			if len(key) > 1 && keyMsg(key).String() != key {
				continue // keyMsg cannot make it
			}
			s := running(t, 160, 45, 24_000)
			s.typeLine("projector on")
			b := s.palette.keys[i]
			if b.Panes != nil {
				s.GoTo(b.Panes[0])
			}
			s.projector.pressed = ""
			s.Model.key(keyMsg(key))
			if seen++; s.projector.pressed == "" || !strings.HasPrefix(s.projector.pressed, s.Theme.KeyLabel(strings.Replace(key, " ", "space", 1))+" ") {
				t.Errorf("%s, %s: %q", b.Name, key, s.projector.pressed)
			}
			foot := s.projector.foot(160)
			if s.entry == nil && !strings.HasSuffix(strings.TrimRight(foot, " "), s.projector.pressed) {
				t.Errorf("%s: the last line is %q", b.Name, foot)
			}
		}
	}
	if seen < 60 {
		t.Errorf("%d keys", seen)
	}
	s := running(t, 160, 45, 24_000)
	s.typeLine("projector on")
	for _, c := range []struct{ key, name string }{
		{"right", "→ F disagreement staged"}, {"down", "↓ down"}, {"right", "→ F disagreement, ω 2.25 staged"}, {"esc", "esc back"}, {" ", "space pause"}, {"q", "q quit"}, {"esc", "esc cancel"},
		{"T", "T lessons"}, {"1", "1 "}, {"enter", "enter lesson"}, {"~", "enter lesson"},
	} {
		if s.Model.key(keyMsg(c.key)); !strings.HasPrefix(s.projector.pressed, c.name) {
			t.Errorf("%q is named %q, want %q", c.key, s.projector.pressed, c.name)
		}
		s.Update(polled{})
	}
}

// No ink on a projector has a contrast under 7:1 to the ground: not in the frames of any pane, in 24-bit
// colours or in 256, on dark and on light grounds.
func TestContrastOnAProjector(t *testing.T) {
	racing.Skip(t)
	for _, profile := range []termenv.Profile{termenv.TrueColor, termenv.ANSI256} {
		for tone, ground := range map[string]string{"dark": "#1e1e1e", "light": "#f4f4f4"} {
			r := lipgloss.NewRenderer(io.Discard)
			r.SetColorProfile(profile)
			s := newScreen(t, 160, 45, func(o *Options) { o.Renderer = r })
			s.fake.advance(24_000)
			s.Update(started{lab: s.fake})
			s.typeLine("theme " + tone)
			if least, ink := leastContrast(t, s.View(), ground); least > 6 {
				t.Errorf("%s without a projector: %.2f of %s: this test sees no dim ink", tone, least, ink)
			}
			s.typeLine("projector on")
			s.press("right")
			for _, id := range s.paneIDs() {
				if id == pane.Agent { // a picture of the task
					continue
				}
				s.GoTo(id)
				s.Update(polled{})
				if least, ink := leastContrast(t, s.View(), ground); least < 7 {
					t.Errorf("%s, pane %s: a contrast of %.2f of %s", tone, id, least, ink)
				}
			}
		}
	}
}

// colourCode is a colour of the text in an escape sequence.
var colourCode = regexp.MustCompile(`\x1b\[(?:\d+;)*38;(?:2;(\d+);(\d+);(\d+)|5;(\d+))`)

// leastContrast is the least contrast of a text's colours to a ground, and the ink that has it.
func leastContrast(t *testing.T, frame, ground string) (least float64, ink string) {
	t.Helper()
	least = 21
	var back [3]float64
	for i := range back {
		v, _ := strconv.ParseUint(ground[1+2*i:3+2*i], 16, 8)
		back[i] = float64(v)
	}
	found := colourCode.FindAllStringSubmatch(frame, -1)
	if len(found) == 0 {
		t.Fatal("no colours")
	}
	for _, m := range found {
		var c [3]float64
		if m[4] != "" {
			n, _ := strconv.Atoi(m[4])
			c = xterm(n)
		}
		for i := range c {
			if m[4] == "" {
				c[i], _ = strconv.ParseFloat(m[1+i], 64)
			}
		}
		if v := contrast(c, back); v < least {
			least, ink = v, strings.TrimPrefix(m[0], "\x1b")
		}
	}
	return least, ink
}

// xterm is a colour of xterm's 256, from the 16th on.
func xterm(n int) (c [3]float64) {
	if n >= 232 {
		v := float64(8 + 10*(n-232))
		return [3]float64{v, v, v}
	}
	for i, part := range []int{(n - 16) / 36, (n - 16) / 6 % 6, (n - 16) % 6} {
		c[i] = []float64{0, 95, 135, 175, 215, 255}[part]
	}
	return c
}

// contrast is that of two colours as WCAG 2.2 defines it.
func contrast(a, b [3]float64) float64 {
	light := func(c [3]float64) (l float64) {
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			v := c[i] / 255
			if v <= 0.04045 {
				v /= 12.92
			} else {
				v = math.Pow((v+0.055)/1.055, 2.4)
			}
			l += weight * v
		}
		return l
	}
	x, y := light(a), light(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}
