package agent

import (
	"fmt"
	"math"

	"pgrlab/core/event"
	"pgrlab/tui/chart"
	"pgrlab/tui/format"
	"pgrlab/tui/theme"
)

// Lines of a course below the picture.
const (
	leastCourse = 3
	mostCourse  = 9
	aboveCourse = 16 // of the picture, the fewest: below a smaller one there is none
)

// courseLines are the bonus, or F, along the newest env steps, with a line of numbers above it: as high
// as a picture of a maze, twice as wide as high, leaves room for in w by h cells. None where
// nothing is told, or there is no room.
func (p *Pane) courseLines(w, h int) []string {
	now := p.Snap.Moment
	if now == nil || now.Course == nil || len(now.Course.Told) == 0 || h < aboveCourse+leastCourse {
		return nil
	}
	c, t := now.Course, p.Theme
	n := len(c.Told)
	points, sum := coursePoints(c)
	line := c.Of + " " + format.Number(c.Told[n-1]) + t.Dim.On(" now, mean ") + format.Number(sum/float64(n))
	steps := fmt.Sprintf(" over %d env %s", n, format.Plural("step", n))
	line = theme.Longest([]string{line + t.Dim.On(steps), line}, w)
	plot := chart.Chart{
		Series: []chart.Series{{Points: points}}, Levels: []chart.Level{{Y: 0}},
		XMin: float64(c.Step - n + 1), XMax: float64(max(c.Step, c.Step-n+2)), Glyphs: t.Chart, Paint: t.Paint,
	}
	rows := max(leastCourse, min(mostCourse, h-w/4))
	return append([]string{t.Fit(line, w)}, plot.Lines(w, rows-1)...)
}

// coursePoints are what was told by env step, and their sum. Between
// episodes the line is broken.
func coursePoints(c *event.Course) (points []chart.Point, sum float64) {
	for i, told := range c.Told {
		x := float64(c.Step - len(c.Told) + 1 + i)
		points = append(points, chart.Point{X: x, Y: told})
		sum += told
		if c.Ended[i] {
			points = append(points, chart.Point{X: x + 0.5, Y: math.NaN()})
		}
	}
	return points, sum
}
