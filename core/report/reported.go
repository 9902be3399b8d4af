package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"pgrlab/core/report/axes"
)

// comparable returns the results of others that were measured as those of the row.
func (r *Row) comparable() []Reported {
	return slices.DeleteFunc(slices.Clone(r.Reported), func(p Reported) bool { return p.Where != "" })
}

// reportedLine draws the paper's value as a line if the runs are at least half as long
// as the paper's: for shorter runs the value says nothing.
func (r *Row) reportedLine(color int) []axes.Mark {
	end := r.end()
	for _, p := range r.comparable() {
		long := 2*end >= p.Steps
		if p.Frames > 0 && r.Frames > 0 {
			long = 2*end*r.Frames >= p.Frames
		}
		if p.Independent || !long {
			continue
		}
		return []axes.Mark{{
			Kind: axes.Dashed, Color: color, X: []float64{0, float64(end)}, Y: []float64{p.Mean, p.Mean},
			Label: fmt.Sprintf("%s, paper at %s (n=%s)", r.Method, p.place(), seedsOf(p)),
		}}
	}
	return nil
}

// end is the last env step at which a seed of the row was evaluated.
func (r *Row) end() (end int) {
	for _, s := range r.cell.Seeds {
		end = max(end, last(s.Series(Return)))
	}
	return end
}

// step is the env step of the row's runs at which a result was measured: that of the same frame if
// both count frames, because an env step may have another number of them.
func (r *Row) step(p Reported) float64 {
	if p.Frames > 0 && r.Frames > 0 {
		return float64(p.Frames) / float64(r.Frames)
	}
	return float64(p.Steps)
}

// others are the results of runs like the row's that are not the paper's: of each source its points,
// by step.
func (r *Row) others() [][]Reported {
	all := slices.DeleteFunc(r.comparable(), func(p Reported) bool { return !p.Independent })
	var sources [][]Reported
	for _, p := range all {
		i := slices.IndexFunc(sources, func(s []Reported) bool { return s[0].Source == p.Source })
		if i < 0 {
			i, sources = len(sources), append(sources, nil)
		}
		sources[i] = append(sources[i], p)
	}
	for _, s := range sources {
		slices.SortStableFunc(s, func(a, b Reported) int { return cmp.Compare(r.step(a), r.step(b)) })
	}
	return sources
}

// othersCurves draws the points that others report within the length of the row's runs as lines.
func (r *Row) othersCurves(color int) (curves []axes.Mark) {
	end := float64(r.end())
	for _, points := range r.others() {
		m := axes.Mark{Kind: axes.Curve, Color: color}
		for _, p := range points {
			if x := r.step(p); x <= end {
				m.X, m.Y = append(m.X, x), append(m.Y, p.Mean)
			}
		}
		if n := len(m.X); n > 0 {
			m.Label = fmt.Sprintf("%s, others at %s (n=%s)", r.Method, spanOf(points[:n]), seedsOf(points[0]))
			curves = append(curves, m)
		}
	}
	return curves
}

// spanOf is where the first and the last of some points were measured.
func spanOf(points []Reported) string {
	first, last := points[0], points[len(points)-1]
	if first == last {
		return first.place()
	}
	return first.place() + " to " + last.place()
}

// reportedPlaces draws results beside the row's place among those of a step: the paper's, and of each
// other source the one that was measured nearest to that step.
func (r *Row) reportedPlaces(place, color, step int) (marks []axes.Mark) {
	draw := func(kind axes.Kind, source string, p Reported) {
		marks = append(marks, axes.Mark{
			Kind: kind, X: []float64{float64(place) + 0.22 + 0.1*float64(len(marks))}, Y: []float64{p.Mean - p.Std}, Upper: []float64{p.Mean + p.Std}, Color: color,
			Label: fmt.Sprintf("%s at %s: mean ± deviation", source, p.place()),
		})
	}
	for _, p := range r.comparable() {
		if !p.Independent {
			draw(axes.Paper, "the paper", p)
		}
	}
	for _, points := range r.others() {
		draw(axes.Other, "others", slices.MinFunc(points, func(a, b Reported) int {
			return cmp.Compare(math.Abs(r.step(a)-float64(step)), math.Abs(r.step(b)-float64(step)))
		}))
	}
	return marks
}

// place is where a result was measured, in short: in frames if they are known, because env steps of
// runs from pixels may have other repeats.
func (p Reported) place() string {
	if p.Frames > 0 {
		return "frame " + axes.Short(p.Frames)
	}
	return axes.Short(p.Steps)
}

func seedsOf(p Reported) string {
	if p.Seeds == 0 {
		return "?"
	}
	return fmt.Sprint(p.Seeds)
}
