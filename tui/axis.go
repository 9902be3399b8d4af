package tui

import (
	"fmt"
	"math"
	"strconv"

	"pgrlab/tui/chart"
)

// axis is what the charts' horizontal axis counts.
type axis int

// The axes.
const (
	axisSteps axis = iota
	axisUpdates
	axisWall
	axisCount
)

var axisNames = [axisCount]string{"steps", "updates", "wall"}

// String is steps, updates or wall.
func (a axis) String() string { return axisNames[a] }

// place is where a measurement stands on the horizontal axis.
func (m *charts) place(h *history) func(step int, wall float64) float64 {
	switch m.axis {
	case axisUpdates:
		return func(step int, _ float64) float64 { return h.clock.updates(step) }
	case axisWall:
		return func(_ int, wall float64) float64 { return wall }
	default:
		return func(step int, _ float64) float64 { return float64(step) }
	}
}

// placeStep is where an env step of the run stands.
func (m *charts) placeStep(step int) float64 {
	wall := 0.0
	if m.axis == axisWall {
		wall = m.history.clock.seconds(step)
	}
	return m.place(&m.history)(step, wall)
}

// window is the part of the horizontal axis that the charts show: all of it, or
// lo to hi; a following one keeps its width and moves with the newest measurement.
type window struct {
	zoomed, follow bool
	lo, hi         float64
}

// span is the horizontal range that the charts show.
func (m *charts) span() (lo, hi float64) {
	end := m.horizon()
	v := m.window
	switch {
	case !v.zoomed:
		return 0, end
	case v.follow:
		return end - (v.hi - v.lo), end
	default:
		return v.lo, v.hi
	}
}

// horizon is the right end of the charts: the newest measurement or change, so that
// charts move when there is something new and not with every step.
func (m *charts) horizon() float64 {
	x := 1.0
	if s, ok := m.history.clock.walls.last(); ok {
		x = math.Max(x, m.place(&m.history)(s.step, s.wall))
	}
	for _, other := range m.others {
		if s, ok := other.history.curve(curveReturn, 0).last(); ok {
			x = math.Max(x, m.place(&other.history)(s.step, s.wall))
		}
	}
	return x
}

// extent is the most that zooming out shows: the whole run to come.
func (m *charts) extent() float64 {
	if m.axis == axisWall || m.snap == nil {
		return m.horizon()
	}
	return math.Max(m.horizon(), m.placeStep(m.snap.Steps))
}

// rescale makes the charts' range by times as wide, around the cursor or, without
// one, towards the newest measurement.
func (m *charts) rescale(by float64) {
	lo, hi := m.span()
	width := (hi - lo) * by
	end := m.horizon()
	anchor := math.Min(hi, end)
	if m.cursorOn {
		anchor = m.placeStep(m.cursor)
	}
	if by > 1 && !m.window.zoomed { // everything is shown: now also what is to come
		m.window = window{zoomed: true, lo: 0, hi: math.Min(width, m.extent())}
		m.drawChartsAnew()
		return
	}
	if width < end*1e-4 {
		return
	}
	lo = anchor - (anchor-lo)*by
	hi = lo + width
	if lo < 0 {
		lo, hi = 0, width
	}
	follow := !m.cursorOn && lo > 0 && math.Abs(hi-end) <= end*1e-9
	m.window = window{zoomed: true, follow: follow, lo: lo, hi: math.Min(hi, m.extent())}
	if m.window.lo <= 0 && math.Abs(m.window.hi-end) < end*0.02 {
		m.window = window{}
	}
	m.drawChartsAnew()
}

// pan moves the charts' range by a share of its width.
func (m *charts) pan(by float64) {
	lo, hi := m.span()
	width := hi - lo
	lo = math.Max(0, math.Min(lo+by*width, m.extent()-width))
	m.window = window{zoomed: true, lo: lo, hi: lo + width, follow: lo+width >= m.horizon()*(1-1e-9)}
	m.drawChartsAnew()
}

func (m *charts) drawChartsAnew() {
	m.touch(topicCharts)
	m.changed()
}

// formatX writes a place on the axis.
func (m *charts) formatX(v float64) string {
	if m.axis != axisWall {
		return chart.FormatCount(v)
	}
	s := int(math.Round(v))
	switch {
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
