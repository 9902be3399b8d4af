package sweep

import (
	"slices"
	"time"

	"pgrlab/core/cost"
)

// Pace is the progress of a running job.
type Pace struct {
	Step int
	Left time.Duration // the run's own estimate; 0: unknown
}

// ETA estimates how long the rest takes with that many workers; 0 if unknown. For running
// jobs it uses their own estimates. For the others it uses the median pace of jobs of their
// task, method and variant, or of all jobs if there is none; with the median, one job that
// stood still for hours does not distort the estimate.
func (g *Grid) ETA(workers int, running map[int]Pace) time.Duration {
	type kind struct{ task, method, variant string }
	paces := map[kind][]time.Duration{} // of an env step
	count := func(j Job, took time.Duration, steps int) {
		if took > 0 && steps > 0 {
			for _, k := range []kind{{j.Task, j.Method, j.Variant}, {}} {
				paces[k] = append(paces[k], took/time.Duration(steps))
			}
		}
	}
	var open []Job
	for _, j := range g.Jobs {
		p := running[j.Index]
		if r, done := g.Result(j); done {
			count(j, time.Duration(min(r.WallS, cost.Century.Seconds())*float64(time.Second)), j.Steps)
		} else if !g.left[j.Index] {
			open = append(open, j)
			count(j, p.Left, j.Steps-p.Step)
		}
	}
	var left []time.Duration
	for _, j := range open {
		p := running[j.Index]
		if p.Left == 0 {
			like := paces[kind{j.Task, j.Method, j.Variant}]
			if len(like) == 0 {
				like = paces[kind{}]
			}
			if len(like) == 0 {
				return 0
			}
			slices.Sort(like)
			p.Left = time.Duration(min(float64(like[(len(like)-1)/2])*float64(max(0, j.Steps-p.Step)), float64(cost.Century)))
		}
		left = append(left, p.Left)
	}
	return cost.Together(float64(max(1, workers)), left...)
}
