package sweep

import (
	"slices"
	"time"
)

// Pace is the progress of a running job.
type Pace struct {
	Step int
	Left time.Duration // the run's own estimate; 0: unknown
}

// century is longer than any sweep takes, whatever its results say.
const century = 100 * 365 * 24 * time.Hour

// ETA estimates how long the rest takes with that many workers; 0 if unknown. For running
// jobs it uses their own estimates. For the others it uses the median pace of jobs of their
// task, method and variant, or of all jobs if there is none; with the median, one job that
// stood still for hours does not distort the estimate.
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
	left := min(max(longest, total/float64(max(1, workers))), century.Seconds())
	return time.Duration(left * float64(time.Second))
}
