package sweep

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"

	"pgrlab/core/config"
	"pgrlab/core/sweep"
	"pgrlab/core/task"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
)

// atOnce is how many runs of a grid go on at the same time, at most.
func (f *sweepFlags) atOnce(g *sweep.Grid) int {
	n := f.jobs
	if n == 0 {
		n = runtime.NumCPU()
		if len(f.devices) > 0 {
			n = len(f.devices)
		}
	}
	if f.pack {
		n = max(2*len(f.devices), runtime.NumCPU()/f.threads)
	}
	return min(n, len(g.Jobs))
}

// needs are estimates of the memory that the jobs which are not done take at their ends, the largest
// first. A job that cannot be read is left out: its attempt says why.
func needs(d cli.Deps, g *sweep.Grid) (all []float64) {
	for _, j := range g.Missing() {
		c, on, err := read(d, g, j)
		if err == nil {
			on, err = on.Played(c.Played())
		}
		if err != nil {
			continue
		}
		bytes := 0.0
		for _, part := range c.Memory(on) {
			bytes += part.Bytes
		}
		all = append(all, bytes)
	}
	slices.SortFunc(all, func(a, b float64) int { return cmp.Compare(b, a) })
	return all
}

// read is the configuration of a job, and its task.
func read(d cli.Deps, g *sweep.Grid, j sweep.Job) (c config.Config, on task.Task, err error) {
	doc, err := g.ReadConfig(j)
	if err == nil {
		c, err = presets.Decode(g.Config(j), doc)
	}
	if err == nil {
		on, err = d.TaskIn(g.Dir(j), c.Task, c.Environment)
	}
	return c, on, err
}

// tooMuch says in one line that so many runs at a time, the largest ones, would take more than the
// machine has; "" if they do not, or if that is not known. A run that is too large by itself is
// refused by its own attempt.
func tooMuch(needs []float64, atOnce int, m config.Machine) string {
	sum, fit := 0.0, 0
	for _, bytes := range needs[:min(atOnce, len(needs))] {
		if sum += bytes; sum <= m.Memory {
			fit++
		}
	}
	if m.Memory <= 0 || sum <= m.Memory {
		return ""
	}
	return fmt.Sprintf("%d runs at a time come to take about %s of memory, %s: choose --jobs %d, or the system may kill some of them",
		min(atOnce, len(needs)), cli.Size(int64(sum)), m, max(1, fit))
}
