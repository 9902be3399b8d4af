package tui

import (
	"image"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/tui/pane"
)

// drawnWithout is a screen of a run without a generator, whose task can be drawn.
func drawnWithout(t *testing.T, w, h int) *screen {
	t.Helper()
	s := newScreen(t, w, h, func(o *Options) {
		o.Config.Method, o.Config.Generator.Kind = "redq", config.GeneratorNone
		o.Draw = func(_ []float64, w, h int) (*image.RGBA, error) { return image.NewRGBA(image.Rect(0, 0, w, h)), nil }
	})
	s.fake.advance(24_000)
	s.fake.snapshot.Pose = []float64{0}
	s.Update(started{lab: s.fake})
	s.Update(polled{})
	return s
}

// Without a generator the agent takes the place of the distributions of F in every layout that has
// such a place, and the phases of refits are not listed. A key gives the agent the whole screen and
// then returns its place to the pane in focus.
func TestWithoutAGeneratorTheAgentIsShown(t *testing.T) {
	for _, size := range []struct{ w, h int }{{200, 60}, {160, 45}, {110, 34}, {80, 24}} {
		for _, v := range []view{focusView, fullView} {
			s := drawnWithout(t, size.w, size.h)
			s.setView(v)
			if s.layout.kind == tabbed { // too small for that view
				continue
			}
			if s.layout.visible(pane.Scores) || s.layout.visible(pane.Generator) || !s.layout.visible(pane.Agent) {
				t.Errorf("%dx%d %s shows %+v", size.w, size.h, v, s.layout.places)
			}
			if text := s.View(); strings.Contains(text, "  D_syn 1") || strings.Contains(text, "no refit") || strings.Contains(text, "○ fit") {
				t.Errorf("%dx%d %s:\n%s", size.w, size.h, v, text)
			}
			s.press("v")
			if s.focus != pane.Agent || s.layout.kind != tabbed {
				t.Errorf("%dx%d %s: v gives %s a place among others", size.w, size.h, v, string(s.focus))
			}
			s.press("v")
			if s.focus != pane.Knobs || s.layout.kind == tabbed {
				t.Errorf("%dx%d %s: v again goes to %s, layout %d", size.w, size.h, v, string(s.focus), s.layout.kind)
			}
		}
	}
}

// A pane that was zoomed is zoomed again after a look at the agent.
func TestBackFromTheAgentToAZoomedPane(t *testing.T) {
	s := drawnWithout(t, 160, 45)
	s.GoTo(pane.Chart1)
	s.toggleZoom()
	s.press("v", "v")
	if s.focus != pane.Chart1 || !s.zoomed {
		t.Errorf("back at %s, zoomed %t", string(s.focus), s.zoomed)
	}
}
