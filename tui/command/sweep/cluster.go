package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"pgrlab/core/shell"
	"pgrlab/core/sweep"
	"pgrlab/core/sweep/slurm"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/command/terminal"
)

// The times between two questions to Slurm: a short one while something changes, and increasingly
// longer ones while nothing does.
const (
	pollFirst = 2 * time.Second
	pollLast  = 30 * time.Second
)

// cluster is a sweep whose jobs Slurm runs.
type cluster struct {
	grid  *sweep.Grid
	array *slurm.Array
	out   string
	calls callFlags
	ended func(sweep.Job) // gets the jobs that are done

	queued  map[int]slurm.Element
	known   bool // whether the queue has ever answered
	trouble string
	done    map[int]bool
	failed  map[int]bool // those that left the queue without a result
	given   map[int]bool // those that failed in elements with other jobs to do
}

func newCluster(g *sweep.Grid, out string) (*cluster, error) {
	array, err := slurm.Open(g.Folder(), slurm.Run)
	if err != nil {
		return nil, err
	}
	return &cluster{grid: g, array: array, out: out, ended: func(sweep.Job) {}, done: map[int]bool{}, failed: map[int]bool{}}, nil
}

// submit submits the jobs that are missing and not in the queue. Two submits of one sweep take
// turns, so that no job is submitted twice. Waiting ends with view.
func (c *cluster) submit(ctx, view context.Context, how slurm.How, say func(string)) error {
	end, err := turn(c.grid, "slurm.lock", "submits its jobs")
	if err != nil {
		return err
	}
	defer end()
	if c.array, err = slurm.Open(c.grid.Folder(), slurm.Run); err != nil { // another sweep may have submitted since it was read
		return err
	}
	if err := c.array.Usable(); err != nil {
		return err
	}
	if c.queued, err = c.settled(view, say); err != nil {
		return fmt.Errorf("what is queued already is not known: %w", err)
	}
	var jobs []int
	missing := c.grid.Missing()
	for _, j := range missing {
		if _, queued := c.queued[j.Index]; !queued {
			jobs = append(jobs, j.Index)
		}
	}
	if n := len(missing) - len(jobs); n > 0 {
		say(fmt.Sprintf("%d jobs are queued or run already", n))
	}
	if len(jobs) == 0 {
		return nil
	}
	before := len(c.array.Submissions)
	if err := c.array.Submit(ctx, how, jobs); err != nil {
		return err
	}
	for _, sub := range c.array.Submissions[before:] {
		say(fmt.Sprintf("%d jobs are submitted as array %s", len(sub.Jobs()), sub.ID))
	}
	return nil
}

// settled is the queue at a time when no job is just ending, as cancelled jobs do while they save
// themselves.
func (c *cluster) settled(ctx context.Context, say func(string)) (map[int]slurm.Element, error) {
	for said := false; ; said = true {
		queued, err := c.array.Queued(ctx)
		if err != nil {
			return nil, err
		}
		ending := 0
		for _, e := range queued {
			if e.State == "COMPLETING" {
				ending++
			}
		}
		if ending == 0 {
			return queued, nil
		}
		if !said {
			say(fmt.Sprintf("waiting for %d jobs that are just ending", ending))
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pollFirst):
		}
	}
}

// how is what the jobs are submitted with.
func (f *sweepFlags) how(g *sweep.Grid) (slurm.How, error) {
	self, dir, err := program(g)
	if err != nil {
		return slurm.How{}, err
	}
	s := slurm.Script{Program: self, Dir: dir, Flags: []string{"--threads", strconv.Itoa(f.threads)}}
	if f.disk != "" {
		s.Flags = append(s.Flags, "--disk", f.disk)
	}
	if f.jobsOn != "" {
		s.Flags = append(s.Flags, "--device", f.jobsOn)
	}
	return slurm.How{Script: s, Beside: f.jobs, Runs: f.runsPerJob, Options: f.sbatch}, nil
}

// look checks the disk for finished jobs, and the queue for the rest. If the queue does not answer,
// nothing changes.
func (c *cluster) look(ctx context.Context) (changed bool, said []string) {
	queued, err := c.array.Queued(ctx)
	if c.trouble = ""; err != nil {
		c.trouble = cli.Line(err)
		queued = c.queued
	}
	for _, j := range c.grid.Jobs {
		if r, done := c.grid.Result(j); done && !c.done[j.Index] {
			c.done[j.Index], changed = true, true
			delete(c.failed, j.Index) // its result came after it had left the queue
			c.ended(j)
			if c.known { // otherwise it was done before
				said = append(said, sweep.Said(r))
			}
		}
	}
	given := c.givenUp(queued)
	for _, j := range c.grid.Missing() {
		was, wasIn := c.queued[j.Index]
		now, isIn := queued[j.Index]
		changed = changed || wasIn != isIn || was.State != now.State
		if err == nil && !isIn && !c.failed[j.Index] {
			c.failed[j.Index] = true
			if wasIn {
				said = append(said, fmt.Sprintf("%s: left the queue without a result: %s", j.Name(), c.grid.LastWords(j)))
			}
		}
		if isIn {
			delete(c.failed, j.Index)
		}
		if given[j.Index] && !c.given[j.Index] {
			changed = true
			said = append(said, fmt.Sprintf("%s: failed: %s; pgrlab sweep requeue %s has it tried again", j.Name(), c.grid.LastWords(j), shell.Word(c.out)))
		}
	}
	c.given = given
	c.queued, c.known = queued, c.known || err == nil
	return changed, said
}

// over says whether nothing more will come, and with what result.
func (c *cluster) over() (bool, error) {
	missing := c.grid.Missing()
	switch {
	case len(missing) == 0:
		return true, nil
	case !c.known || len(c.queued) > 0 || len(c.failed) < len(missing):
		return false, nil
	}
	return true, fmt.Errorf("%d of %d jobs left the queue without a result: %s", len(missing), len(c.grid.Jobs), c.grid.WhatHelps(missing, "start the sweep again to submit them again"))
}

// follow shows the sweep until all is done, or the person leaves.
func (c *cluster) follow(ctx context.Context, progress *terminal.Progress) error {
	for wait := pollFirst; ; {
		if err := c.grid.Stands(); err != nil {
			return err
		}
		changed, said := c.look(ctx)
		for _, text := range said {
			progress.Say(text)
		}
		if over, err := c.over(); over {
			progress.Say(c.summary())
			return err
		}
		progress.RewriteAll(c.standing())
		if wait = min(wait*3/2, pollLast); changed {
			wait = pollFirst
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			progress.Say(fmt.Sprintf("the jobs go on without this view: pgrlab sweep status %s shows them, pgrlab sweep cancel %s ends them", shell.Word(c.out), shell.Word(c.out)))
			return context.Cause(ctx)
		case <-t.C:
		}
	}
}

// lines show the progress of the jobs once, on request.
func (c *cluster) lines(ctx context.Context) []string {
	c.look(ctx)
	return append(failures(c.grid), c.standing()...)
}

// standing are a line for each running job, and the summary.
func (c *cluster) standing() []string {
	var all []string
	for _, j := range c.grid.Missing() {
		e, queued := c.queued[j.Index]
		if !queued || e.State == "PENDING" {
			continue
		}
		where, _ := rundir.Standing(c.grid.Run(j))
		text := fmt.Sprintf("%s  %s on %s, %s", j.Name(), c.stateOf(j.Index, e), e.Node, where)
		if e.Restarts > 0 {
			text += fmt.Sprintf(", begun again %d times", e.Restarts)
		}
		all = append(all, text)
	}
	return append(all, c.summary())
}

// stateOf is the state of a job: Slurm's state of its element, unless the element has given the job
// up.
func (c *cluster) stateOf(job int, e slurm.Element) string {
	if c.given[job] {
		return "given up"
	}
	return e.State
}

// summary counts the jobs.
func (c *cluster) summary() string {
	count, reasons := map[string]int{}, map[string]int{}
	left := 0
	for _, j := range c.grid.Jobs {
		if notNeeded(c.grid, j) {
			left++
		}
	}
	for i, e := range c.queued {
		if c.done[i] {
			continue
		}
		count[c.stateOf(i, e)]++
		if e.State == "PENDING" && e.Reason != "" {
			reasons[e.Reason]++
		}
	}
	text := fmt.Sprintf("%d of %d done", len(c.done), len(c.grid.Jobs))
	for _, state := range slices.Sorted(maps.Keys(count)) {
		text += fmt.Sprintf(", %d %s", count[state], state)
	}
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		text += fmt.Sprintf(" (%d %s)", reasons[reason], reason)
	}
	if left > 0 {
		text += fmt.Sprintf(", %d not needed", left)
	}
	if n := len(c.failed); n > 0 && c.known {
		text += fmt.Sprintf(", %d not in the queue", n)
	}
	if c.trouble != "" {
		text += "; " + c.trouble
	}
	return text
}

// runOnCluster submits what is missing and shows its progress.
func (f *sweepFlags) runOnCluster(parent context.Context, g *sweep.Grid, w io.Writer) error {
	return f.shown(parent, g, w, func(ctx context.Context, progress *terminal.Progress, ended func(sweep.Job)) error {
		c, err := newCluster(g, f.out)
		if err != nil {
			return err
		}
		c.ended = ended
		how, err := f.how(g)
		if err == nil {
			err = c.submit(parent, ctx, how, progress.Say)
		}
		if err != nil {
			return err
		}
		return c.follow(ctx, progress)
	})
}

// shown runs a sweep that is done elsewhere, and shows its results when follow has ended. Signals
// end the context of follow, which is only a view.
func (f *sweepFlags) shown(parent context.Context, g *sweep.Grid, w io.Writer, follow func(context.Context, *terminal.Progress, func(sweep.Job)) error) error {
	file := &sweepResultsFile{path: f.results, grid: g}
	if err := file.leave(w); err != nil {
		return fmt.Errorf("sweep %s: %w", f.out, err)
	}
	progress := terminal.NewProgress(w)
	ctx, stop := terminal.StartWatch(parent, os.Exit, func() {}, func(string) {}, func(string) {}) // nothing is saved or ended here
	defer stop()
	err := follow(ctx, progress, func(j sweep.Job) {
		if err := file.keep([]sweep.Job{j}, io.Discard); err != nil {
			progress.Say(fmt.Sprintf("%s: %v; the next sweep with --results tries again", j.Name(), err))
		}
	})
	var s cli.Signalled
	if errors.As(err, &s) {
		return err
	}
	var moved *sweep.Moved
	if errors.As(err, &moved) {
		return fmt.Errorf("sweep %s: %w", f.out, err)
	}
	for _, after := range []error{file.keep(g.Jobs, w), sweepResults(w, g, f.out, file)} {
		if err == nil {
			err = after
		}
	}
	if err != nil {
		return fmt.Errorf("sweep %s: %w", f.out, err)
	}
	return nil
}
