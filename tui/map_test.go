package tui

import (
	"fmt"
	"image"
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/testing/racing"
	"pgrlab/tui/pane"
	"pgrlab/tui/pane/maps"
	"pgrlab/tui/theme"
)

func TestGoldenMapAndAgent(t *testing.T) {
	for _, size := range []struct{ w, h int }{{160, 45}, {80, 24}, {60, 15}, {40, 10}} {
		s := newScreen(t, size.w, size.h, func(o *Options) {
			o.Draw = func(_ []float64, w, h int) (*image.RGBA, error) { return image.NewRGBA(image.Rect(0, 0, w, h)), nil }
		})
		s.fake.advance(24_000)
		s.fake.snapshot.Pose = []float64{0}
		s.Update(started{lab: s.fake})
		s.typeLine("pane map")
		s.Update(polled{})
		golden(t, fmt.Sprintf("map-%dx%d", size.w, size.h), s.View())
		s.typeLine("pane agent")
		s.Update(polled{})
		s.fake.snapshot.Pose = []float64{0}
		s.TouchPane(pane.Agent)
		s.Update(polled{})
		golden(t, fmt.Sprintf("agent-%dx%d", size.w, size.h), s.View())
	}
}

// The map asks for the chosen dimensions, and does not ask again while the run stands still, unless it has
// generated.
func TestMapAsksForItsDimensions(t *testing.T) {
	s := running(t, 80, 24, 24_000)
	s.typeLine("map speed x, pitch")
	if c, ok := s.lastCommand().(event.Map); !ok || c != (event.Map{X: 3, Y: 1}) {
		t.Fatalf("asked %#v", s.lastCommand())
	}
	s.contains(t, "x speed x", "y pitch")
	n := len(s.fake.commands)
	for range 5 {
		s.clock = s.clock.Add(maps.Every)
		s.Update(polled{})
	}
	if len(s.fake.commands) != n {
		t.Error("it asks a run that stands still")
	}
	s.fake.emit(event.TypeRefit, event.Refit{Generated: 10})
	for range 2 {
		s.clock = s.clock.Add(maps.Every)
		s.Update(polled{})
	}
	if len(s.fake.commands) != n+1 {
		t.Errorf("after a generation it asks %d times", len(s.fake.commands)-n)
	}
	s.press("right", "up")
	if c := s.lastCommand().(event.Map); c != (event.Map{X: 0, Y: 2}) {
		t.Errorf("asked %#v", c)
	}
	for _, c := range []struct { // a dimension is never drawn against itself
		line string
		want event.Map
	}{{"map pitch", event.Map{X: 1, Y: 2}}, {"map back thigh", event.Map{X: 2, Y: 1}}} {
		s.typeLine(c.line)
		if got, ok := s.lastCommand().(event.Map); !ok || got != c.want {
			t.Errorf("%s asks %#v, want %#v", c.line, s.lastCommand(), c.want)
		}
	}
	s.press("m", "m")
	s.contains(t, "s synthetic  r real", "S")
	s.typeLine("map colour")
	s.contains(t, `no dimension "colour"`)
}

// Whatever a map contains, its picture has the requested size.
func TestMapPictureHasItsSize(t *testing.T) {
	racing.Skip(t)
	s := running(t, 160, 45, 24_000)
	empty := &event.Mapped{}
	for _, d := range []*event.Mapped{empty, fakeMap(0, 1, 0)} {
		for w := 1; w <= 200; w += 3 {
			for _, h := range []int{1, 2, 7, 20, 60} {
				for kind := range maps.Kinds {
					lines := s.mapPane().Picture(d, kind, w, h)
					if len(lines) != h {
						t.Fatalf("%d lines of %d", len(lines), h)
					}
					for _, l := range lines {
						if theme.Width(l) != min(w, 2*event.MapColumns) {
							t.Fatalf("kind %d at %dx%d: a line of %d columns: %q", kind, w, h, theme.Width(l), l)
						}
					}
				}
			}
		}
	}
	if all := strings.Join(s.mapPane().Picture(empty, maps.Real, 40, 5), ""); strings.TrimSpace(all) != "" {
		t.Errorf("nothing is drawn as %q", all)
	}
}

func TestMapCommand(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.typeLine("map")
	if s.focus != pane.Map {
		t.Errorf(":map goes to %s", string(s.focus))
	}
	s.contains(t, "the map shows height, pitch; :map NAME, NAME shows others")
	s.typeLine("map speed x, pitch")
	if s.mapPane().Plane.X != 3 || s.mapPane().Plane.Y != 1 {
		t.Errorf("the plane is %+v", s.mapPane().Plane)
	}
	for _, id := range []string{"return", "dormant", "runs", "F", "bias", "chart2"} {
		s.typeLine("pane " + id)
		s.typeLine("pane " + id) // both while it is shown and while it is not
		if name := s.tabName(s.focus); name != id && string(s.focus) != id {
			t.Errorf(":pane %s goes to %s", id, name)
		}
	}
}
