package tui

import (
	"fmt"
	"strings"
	"testing"

	"pgrlab/tui/history"
	"pgrlab/tui/pane"
)

// haunted is a screen at a step whose run has other runs of its settings, of the same seed each time.
func haunted(t *testing.T, w, h, others int) *screen {
	t.Helper()
	s := newScreen(t, w, h, func(o *Options) {
		o.About.References = []pane.Reference{{Source: "paper", Mean: 817, Std: 36, Step: 100_000}}
		o.About.Alike = func() (all []history.Past) {
			for i := range others {
				p := history.Past{Seed: uint64(i)}
				for step := 1000; step <= 20_000+2000*i; step += 1000 {
					p.Steps, p.Returns = append(p.Steps, step), append(p.Returns, float64(step)/100+float64(20*i)+float64(step*i%700)/10)
				}
				all = append(all, p)
			}
			return all
		}
	})
	s.fake.advance(24_000)
	s.Update(started{lab: s.fake})
	s.Update(s.takeLater()())
	return s
}

func TestGoldenGhost(t *testing.T) {
	for _, size := range []struct{ w, h int }{{160, 45}, {80, 24}} {
		golden(t, fmt.Sprintf("ghost-%dx%d", size.w, size.h), haunted(t, size.w, size.h, 9).View())
	}
}

// The key goes through the ghosts that there are, and the cursor says where a return lies.
func TestGhostsOfARun(t *testing.T) {
	s := haunted(t, 160, 45, 9)
	s.contains(t, "ghost 7 runs: ") // those that came to step 24,000
	s.press("2", "left")
	if !strings.Contains(s.message, "above the ghost: higher than 7 of 7 other runs of these settings here") {
		t.Errorf("the cursor says %q", s.message)
	}
	s.press("esc", "H")
	s.contains(t, "ghost paper: the published result", "817 at 100k ▲", "╱╱╱")
	if strings.Contains(s.View(), "┈") {
		t.Errorf("the ghost of runs is still there:\n%s", s.View())
	}
	s.press("H")
	s.contains(t, "no ghost")
	s.press("H")
	s.contains(t, "ghost runs: median and quantiles .1 and .9 of 9 runs of just these settings", "┈┈")
	s.typeLine("ghost fan")
	s.contains(t, "there are no forks yet")
	s = haunted(t, 160, 45, 2)
	s.press("2", "left", "left", "left", "left", "left")
	if !strings.Contains(s.View(), "ghost 2 runs: 200, 260") || strings.Contains(s.View(), "┈") {
		t.Errorf("two runs:\n%s", s.View())
	}
	if s = haunted(t, 160, 45, 0); strings.Contains(s.View(), "ghost") {
		t.Errorf("no other run:\n%s", s.View())
	}
}

// Another scale's result is no ghost.
func TestNoGhostOfAnotherScale(t *testing.T) {
	s := haunted(t, 160, 45, 0)
	s.About.References[0].OtherScale = true
	s.typeLine("ghost paper")
	s.contains(t, "another scale is no ghost")
	if strings.Contains(s.View(), "817 at 100k ▲") {
		t.Errorf("it is drawn:\n%s", s.View())
	}
}
