package agent

import (
	"fmt"
	"math"

	"pgrlab/core/event"
	"pgrlab/tui/chart"
	"pgrlab/tui/format"
	"pgrlab/tui/theme"
)

// Heights of a course and of the picture above it, in lines.
const (
	leastCourse = 3
	mostCourse  = 9
	aboveCourse = 16 // the least height of the picture; beside a lower one there is no course
)

// courseLines draws the bonus, or F, over the newest env steps, below a line of numbers. Its height
// is what a picture of a maze, twice as wide as high, leaves free in w by h cells. It returns nil
// if there are no values or no room.
func (p *Pane) courseLines(w, h int) []string {
	now := p.Snap.Moment
	if now == nil || now.Course == nil || len(now.Course.Values) == 0 || h < aboveCourse+leastCourse {
		return nil
	}
	c, t := now.Course, p.Theme
	n := len(c.Values)
	points, sum := coursePoints(c)
	line := c.Of + " " + format.Number(c.Values[n-1]) + t.Dim.On(" now, mean ") + format.Number(sum/float64(n))
	steps := fmt.Sprintf(" over %d env %s", n, format.Plural("step", n))
	line = theme.Longest([]string{line + t.Dim.On(steps), line}, w)
	plot := chart.Chart{
		Series: []chart.Series{{Points: points}}, Levels: []chart.Level{{Y: 0}},
		XMin: points[0].X, XMax: max(float64(c.Step), points[0].X+1), Glyphs: t.Chart, Paint: t.Paint,
	}
	rows := max(leastCourse, min(mostCourse, h-w/4))
	return append([]string{t.Fit(line, w)}, plot.Lines(w, rows-1)...)
}

// coursePoints are the values by step, and their sum. The line is broken between episodes.
func coursePoints(c *event.Course) (points []chart.Point, sum float64) {
	for i, value := range c.Values {
		x := float64(c.Step - (len(c.Values)-1-i)*c.Every)
		points = append(points, chart.Point{X: x, Y: value})
		sum += value
		if c.Ended[i] {
			points = append(points, chart.Point{X: x + float64(c.Every)/2, Y: math.NaN()})
		}
	}
	return points, sum
}
