package charts

import (
	"fmt"
	"math"
	"strconv"

	"pgrlab/tui/chart"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/topic"
)

// axis is the unit of the charts' horizontal axis.
type axis int

// The axes.
const (
	AxisSteps axis = iota
	axisUpdates
	axisWall
	axisCount
)

// AxisNames are the names of the axes, in the order in which the key cycles through them.
var AxisNames = [axisCount]string{"steps", "updates", "wall"}

// String is steps, updates or wall.
func (a axis) String() string { return AxisNames[a] }

// Place maps a measurement to its position on the horizontal axis.
func (m *Charts) Place(h *history.History) func(step int, wall float64) float64 {
	switch m.Axis {
	case axisUpdates:
		return func(step int, _ float64) float64 { return h.Clock.Updates(step) }
	case axisWall:
		return func(_ int, wall float64) float64 { return wall }
	default:
		return func(step int, _ float64) float64 { return float64(step) }
	}
}

// places says whether a compared run has positions on the axis: without its configuration its
// critic updates are unknown.
func (m *Charts) places(o *pane.Other) bool { return o.Paced || m.Axis != axisUpdates }

// placeStep is the position of an env step of the run.
func (m *Charts) placeStep(step int) float64 {
	wall := 0.0
	if m.Axis == axisWall {
		wall = m.History.Clock.Seconds(step)
	}
	return m.Place(&m.History)(step, wall)
}

// window is the part of the horizontal axis that the charts show: all of it, or lo to hi. A
// following window keeps its width and moves with the newest measurement.
type window struct {
	zoomed, Follow bool
	lo, hi         float64
}

// Span is the horizontal range that the charts show.
func (m *Charts) Span() (lo, hi float64) {
	end := m.horizon()
	v := m.Window
	switch {
	case !v.zoomed:
		return 0, end
	case v.Follow:
		width := v.hi - v.lo
		return math.Max(0, end-width), math.Max(end, width) // a replay that was wound back may be shorter
	default:
		return v.lo, v.hi
	}
}

// horizon is the right end of the charts: the newest measurement or change, so that the charts move
// when there is something new and not with every step.
func (m *Charts) horizon() float64 {
	x := 1.0
	if s, ok := m.History.Clock.Walls.Last(); ok {
		x = math.Max(x, m.Place(&m.History)(s.Step, s.Wall))
	}
	if f := m.Fan; f != nil && m.Axis == AxisSteps {
		x = math.Max(x, float64(f.To))
	}
	for i := range m.Others {
		other := &m.Others[i]
		if s, ok := other.History.Main(history.CurveReturn).Last(); ok && m.places(other) {
			x = math.Max(x, m.Place(&other.History)(s.Step, s.Wall))
		}
	}
	return x
}

// extent is the largest range that zooming out shows: the whole run, including what is still to
// come.
func (m *Charts) extent() float64 {
	if m.Axis == axisWall || m.Snap == nil {
		return m.horizon()
	}
	return math.Max(m.horizon(), m.placeStep(m.Snap.Steps))
}

// rescale makes the charts' range wider by a factor, around the cursor or, without one, towards the
// newest measurement.
func (m *Charts) rescale(by float64) {
	lo, hi := m.Span()
	width := (hi - lo) * by
	end := m.horizon()
	anchor := end
	if m.CursorOn {
		anchor = m.placeStep(m.Cursor)
	}
	anchor = math.Max(lo, math.Min(anchor, hi)) // the cursor may be anywhere, also beyond the run
	if by > 1 && !m.Window.zoomed {             // everything so far is shown: zoom out to the steps still to come
		m.show(window{lo: 0, hi: width})
		return
	}
	if width < end*1e-4 {
		return
	}
	lo = math.Max(0, anchor-(anchor-lo)*by)
	hi = lo + width
	m.show(window{Follow: !m.CursorOn && lo > 0 && math.Abs(hi-end) <= end*1e-9, lo: lo, hi: hi})
}

// pan moves the charts' range by a share of its width. It goes no further than the newest
// measurement, which it then follows, unless the range showed steps still to come before.
func (m *Charts) pan(by float64) {
	lo, hi := m.Span()
	width, end := hi-lo, m.horizon()
	ahead := hi > end*(1+1e-9)
	lo = math.Max(0, math.Min(lo+by*width, m.extent()-width))
	follow := !ahead && lo+width >= end*(1-1e-9)
	if follow {
		lo = end - width
	}
	m.show(window{Follow: follow, lo: lo, hi: lo + width})
}

// show makes v the charts' range, as far as there is something to show. All that was measured is no
// window: it grows with the run.
func (m *Charts) show(v window) {
	end := m.horizon()
	v.zoomed, v.hi = true, math.Min(v.hi, m.extent())
	if v.hi <= v.lo || v.lo <= 0 && math.Abs(v.hi-end) < end*0.02 {
		v = window{}
	}
	m.Window = v
	m.redrawCharts()
}

func (m *Charts) redrawCharts() {
	m.Touch(topic.Charts)
	m.Changed()
}

// formatX writes a position on the axis.
func (m *Charts) formatX(v float64) string {
	if m.Axis != axisWall {
		return chart.FormatPlace(v)
	}
	s := int(math.Round(v))
	switch {
	case s >= 3600 && s%60 != 0:
		return fmt.Sprintf("%dh%02dm%02d", s/3600, s/60%60, s%60)
	case s >= 3600:
		return fmt.Sprintf("%dh%02d", s/3600, s/60%60)
	case s >= 60 && s%60 == 0:
		return strconv.Itoa(s/60) + "m"
	case s >= 60:
		return fmt.Sprintf("%dm%02d", s/60, s%60)
	default:
		return strconv.Itoa(s) + "s"
	}
}
