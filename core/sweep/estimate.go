package sweep

import "time"

// Pace is how a job that is being worked at gets on.
type Pace struct {
	Step      int
	StepsPerS float64 // 0: unknown
}

// ETA estimates how long the rest takes with so many workers: what is left of each
// job, at the pace of jobs of its task and method, else of all. 0: unknown.
func (g *Grid) ETA(workers int, running map[int]Pace) time.Duration {
	type kind struct{ task, method string }
	seconds, steps := map[kind]float64{}, map[kind]float64{}
	count := func(j Job, s, n float64) {
		for _, k := range []kind{{j.Task, j.Method}, {}} {
			seconds[k] += s
			steps[k] += n
		}
	}
	left := map[int]int{}
	for _, j := range g.Jobs {
		if r, done := g.Result(j); done {
			count(j, r.WallS, float64(j.Steps))
			continue
		}
		p := running[j.Index]
		left[j.Index] = max(0, j.Steps-p.Step)
		if p.StepsPerS > 0 {
			count(j, float64(p.Step)/p.StepsPerS, float64(p.Step))
		}
	}
	var total, longest float64
	for index, n := range left {
		j := g.Jobs[index]
		k := kind{j.Task, j.Method}
		if steps[k] == 0 {
			k = kind{}
		}
		if steps[k] == 0 {
			return 0
		}
		s := float64(n) * seconds[k] / steps[k]
		total += s
		longest = max(longest, s)
	}
	return time.Duration(max(longest, total/float64(max(1, workers))) * float64(time.Second))
}
