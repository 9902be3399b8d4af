package report

// at returns the value of the last point at or before step.
func (s Series) at(step int) (v float64, ok bool) {
	for _, p := range s {
		if p.Step <= step {
			v, ok = p.Value, true
		}
	}
	return v, ok
}

// between returns the value at step, interpolated linearly between points; outside, it
// is the value of the first or last point.
func (s Series) between(step int) float64 {
	for i, p := range s {
		if p.Step < step {
			continue
		}
		if i == 0 || p.Step == step {
			return p.Value
		}
		before := s[i-1]
		share := float64(step-before.Step) / float64(p.Step-before.Step)
		return before.Value + share*(p.Value-before.Value)
	}
	return s[len(s)-1].Value
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
