package agent

import (
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"pgrlab/core/event"
)

// A course stands below the picture with its newest value and its mean. Its line is broken between
// episodes, and its last point is the newest env step.
func TestCourse(t *testing.T) {
	p := remembering(termenv.Ascii, nil)
	now := p.Snap.Moment
	now.Course = &event.Course{Step: 104, Every: 8, Of: event.CourseOfBonus, Values: []float64{0.01, -0.02, 0.03, -0.06}, Ended: []bool{false, true, false, false}}
	points, sum := coursePoints(now.Course)
	if len(points) != 5 || points[0].X != 80 || points[4].X != 104 || points[4].Y != -0.06 || !math.IsNaN(points[2].Y) || points[3].Y != 0.03 || math.Abs(sum+0.04) > 1e-12 {
		t.Errorf("points %v, sum %v", points, sum)
	}
	for w, want := range map[int]string{
		80: "bonus -0.060 now, mean -0.010 over 4 env steps", 36: "bonus -0.060 now, mean -0.010",
	} {
		lines := p.courseLines(w, 30)
		if len(lines) < leastCourse || strings.TrimRight(ansi.Strip(lines[0]), " ") != want {
			t.Errorf("%d columns: %d lines, the first %q, want %q", w, len(lines), lines[0], want)
		}
	}
	for h := range 40 {
		lines := p.Body(100, h)
		below := p.courseLines(100-agentColumns-2, h)
		if h >= aboveCourse+leastCourse && len(below) < leastCourse || h < aboveCourse+leastCourse && below != nil {
			t.Errorf("%d lines below of %d", len(below), h)
		}
		if len(lines) > max(h, len(p.agentFacts(40))) {
			t.Errorf("%d lines of %d", len(lines), h)
		}
	}
	now.Course = nil
	if lines := p.courseLines(80, 30); lines != nil {
		t.Errorf("there are no values, but lines %q", lines)
	}
}
