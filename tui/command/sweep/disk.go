package sweep

import (
	"context"
	"fmt"
	"slices"

	"pgrlab/core/run"
	"pgrlab/core/sweep"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/command/session"
)

// unbegun are the jobs without a run folder.
func unbegun(g *sweep.Grid) []sweep.Job {
	return slices.DeleteFunc(g.Missing(), func(j sweep.Job) bool { return rundir.Exists(g.Run(j)) })
}

// tooLarge says in one line that jobs will take more than is free on the sweep's disk, as much as the
// first of them each; "" if they will not, or if that is not known. Making the networks of that one may
// take seconds.
func (f *sweepFlags) tooLarge(ctx context.Context, d cli.Deps, g *sweep.Grid, jobs []sweep.Job) string {
	if len(jobs) == 0 {
		return ""
	}
	c, on, err := read(d, g, jobs[0])
	if err != nil || c.Environment.Outside.Met() { // its program would be started for this
		return ""
	}
	cpu, err := d.Device(cli.DeviceRequest{})
	if err != nil {
		return ""
	}
	defer cpu.Close()
	need, err := session.DiskNeed(ctx, c, on, cpu)
	if err != nil {
		return "" // its attempt says why
	}
	each := need.Total()
	if limit, err := cli.ParseSize(f.disk); err == nil { // it may be exceeded by the latest checkpoint and its data
		each = min(each, max(limit, need.Checkpoint+need.Generation+need.Real))
	}
	return diskText(each, len(jobs), run.Free(g.Path()))
}

// diskText says that so many runs of so many bytes do not fit into those that are free; 0: it is not known
// how many are.
func diskText(each int64, runs int, free int64) string {
	all := each * int64(runs)
	if free <= 0 || all <= free {
		return ""
	}
	return fmt.Sprintf("on the disk: about %s for each of %d runs, %s in all: only %s are free", cli.Size(each), runs, cli.Size(all), cli.Size(free))
}
