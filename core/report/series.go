package report

import "sort"

// A series is in the order of its steps, as a journal is.

// at returns the value of the last point at or before step.
func (s Series) at(step int) (v float64, ok bool) {
	i := s.from(step + 1)
	if i == 0 {
		return 0, false
	}
	return s[i-1].Value, true
}

// from is the index of the first point at or after step; len(s) if there is none.
func (s Series) from(step int) int {
	return sort.Search(len(s), func(i int) bool { return s[i].Step >= step })
}

// between returns the value at step, interpolated linearly between points; outside, it
// is the value of the first or last point.
func (s Series) between(step int) float64 {
	i := s.from(step)
	switch {
	case i == len(s):
		return s[i-1].Value
	case i == 0 || s[i].Step == step:
		return s[i].Value
	}
	before, p := s[i-1], s[i]
	share := float64(step-before.Step) / float64(p.Step-before.Step)
	return before.Value + share*(p.Value-before.Value)
}

// Area returns the area under the curve from step first to last, by trapezoids,
// divided by their distance: the mean height. Without a distance there is no area.
func (s Series) Area(first, last int) (mean float64, ok bool) {
	if first >= last {
		return 0, false
	}
	x, y, area := first, s.between(first), 0.0
	to := func(step int) {
		height := s.between(step)
		area += (y + height) / 2 * float64(step-x)
		x, y = step, height
	}
	for _, p := range s {
		if p.Step > x && p.Step < last {
			to(p.Step)
		}
	}
	to(last)
	return area / float64(last-first), true
}

// Reaches returns the first step, up to last, whose value is at least the threshold.
func (s Series) Reaches(threshold float64, last int) (step int, ok bool) {
	for _, p := range s {
		if p.Step <= last && p.Value >= threshold {
			return p.Step, true
		}
	}
	return 0, false
}
