package sweep

import (
	"slices"
	"time"
)

// Pace is how a job that is being worked at gets on.
type Pace struct {
	Step int
	Left time.Duration // as the run estimates it; 0: unknown
}

// ETA estimates how long the rest takes with so many workers: what running jobs
// reckon themselves, and for the others the median pace of jobs of their task, method
// and variant, else of all, so that one which stood still for hours does not count for
// many. 0: unknown.
func (g *Grid) ETA(workers int, running map[int]Pace) time.Duration {
	type kind struct{ task, method, variant string }
	paces := map[kind][]float64{} // seconds a step
	count := func(j Job, seconds float64, steps int) {
		if seconds > 0 && steps > 0 {
			for _, k := range []kind{{j.Task, j.Method, j.Variant}, {}} {
				paces[k] = append(paces[k], seconds/float64(steps))
			}
		}
	}
	var open []Job
	for _, j := range g.Jobs {
		if r, done := g.Result(j); done {
			count(j, r.WallS, j.Steps)
			continue
		}
		if g.left[j.Index] {
			continue
		}
		open = append(open, j)
		p := running[j.Index]
		count(j, p.Left.Seconds(), j.Steps-p.Step)
	}
	var total, longest float64
	for _, j := range open {
		p := running[j.Index]
		left := p.Left.Seconds()
		if left == 0 {
			like := paces[kind{j.Task, j.Method, j.Variant}]
			if len(like) == 0 {
				like = paces[kind{}]
			}
			if len(like) == 0 {
				return 0
			}
			slices.Sort(like)
			left = like[(len(like)-1)/2] * float64(max(0, j.Steps-p.Step))
		}
		total += left
		longest = max(longest, left)
	}
	return time.Duration(max(longest, total/float64(max(1, workers))) * float64(time.Second))
}
