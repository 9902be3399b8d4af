package sweep

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/core/sweep"
	"pgrlab/tui/command/cli"
)

// statusFlags are the flags of status.
type statusFlags struct{ json, check bool }

func statusCommand() *cobra.Command {
	var f statusFlags
	c := &cobra.Command{
		Use:   "status DIR",
		Short: "show the progress of a sweep",
		Long: `Shows once what the sweep in DIR has done and what its jobs do, wherever they run, and
which jobs failed, with the step and the reason. With --check the exit status says how it
stands: 0, all jobs are done; 1, some failed; 85, none failed and some are not done yet.`,
		Example: `  pgrlab sweep status sweeps/a
  pgrlab sweep status sweeps/a --json | jq '.jobs[] | select(.state == "failed")'`,
		Args: cli.ExactArgs(1, "the folder of a sweep"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.status(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	c.Flags().BoolVar(&f.json, "json", false, "print JSON: what the disk says of each job")
	c.Flags().BoolVar(&f.check, "check", false, "end with status 1 if jobs failed, 85 if some are not done yet")
	return c
}

func (f *statusFlags) status(ctx context.Context, dir string, w io.Writer) error {
	g, all, err := placesOf(dir, callFlags{})
	if err != nil {
		return err
	}
	if len(all) == 0 {
		all = []place{&workers{grid: g, out: dir}}
	}
	s := standingOf(g)
	if f.json {
		if err := cli.WriteJSON(w, s); err != nil {
			return err
		}
		return f.verdict(s)
	}
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	for _, p := range all {
		for _, line := range p.lines(ctx) {
			fmt.Fprintln(w, line)
		}
	}
	if failed := failedJobs(g); len(failed) > 0 {
		fmt.Fprintln(w, g.WhatHelps(failed, fmt.Sprintf("pgrlab sweep --out %s or pgrlab sweep requeue %s tries them again", shell.Word(dir), shell.Word(dir))))
	}
	return f.verdict(s)
}

// notDone is the end of status --check while jobs are to be done.
type notDone struct{ text string }

func (n notDone) Error() string { return n.text }

// ExitStatus shows a script that the sweep is not over.
func (n notDone) ExitStatus() int { return cli.StatusAgain }

// verdict is the error of --check.
func (f *statusFlags) verdict(s standing) error {
	switch {
	case !f.check || s.Done+s.NotNeeded == s.Count:
		return nil
	case s.Failed > 0:
		return fmt.Errorf("sweep status: %d of %d jobs failed", s.Failed, s.Count)
	}
	return notDone{fmt.Sprintf("sweep status: %d of %d jobs are not done yet", s.Count-s.Done-s.NotNeeded, s.Count)}
}

// standing is how the jobs of a sweep stand, as the disk shows it.
type standing struct {
	Count  int           `json:"count"`
	Done   int           `json:"done"`
	Failed int           `json:"failed"`
	Jobs   []jobStanding `json:"jobs"`

	NotNeeded int `json:"not_needed,omitempty"` // their results stood in the file of --results
}

// jobStanding is how a job stands: its state is done, failed, running, not needed, or missing.
type jobStanding struct {
	sweep.Job
	Name     string     `json:"name"`
	State    string     `json:"state"`
	Return   *run.Float `json:"return,omitempty"`
	Reason   string     `json:"reason,omitempty"`
	Step     int        `json:"failed_at,omitempty"`
	Diverged bool       `json:"diverged,omitempty"`
}

// standingOf reads how the jobs of a sweep stand.
func standingOf(g *sweep.Grid) standing {
	s := standing{Count: len(g.Jobs)}
	failed := failedJobs(g)
	for _, j := range g.Jobs {
		one := jobStanding{Job: j, Name: j.Name(), State: "missing"}
		r, done := g.Result(j)
		switch {
		case done:
			s.Done++
			one.State = "done"
			if r.Return != nil {
				value := run.Float(*r.Return)
				one.Return = &value
			}
		case notNeeded(g, j):
			s.NotNeeded++
			one.State = "not needed"
		case slices.Contains(failed, j):
			s.Failed++
			one.State = "failed"
			if e, ended := g.LastEnding(j); ended {
				one.Reason, one.Step, one.Diverged = e.How, e.Step, e.Diverged
			}
		case g.IsHeld(j):
			one.State = "running"
		}
		s.Jobs = append(s.Jobs, one)
	}
	return s
}

// divergedHere says whether a job was left out because its result is that it diverged in this sweep.
func divergedHere(g *sweep.Grid, j sweep.Job) bool {
	e, ended := g.LastEnding(j)
	return g.IsLeft(j) && ended && e.Diverged
}

// notNeeded says whether a job is neither done nor to be done, because its result was made elsewhere.
func notNeeded(g *sweep.Grid, j sweep.Job) bool {
	_, done := g.Result(j)
	return !done && g.IsLeft(j) && !g.IsHeld(j) && !divergedHere(g, j)
}

// failedJobs are the jobs that failed, those included that are not tried again because they diverged.
func failedJobs(g *sweep.Grid) []sweep.Job {
	failed := g.FailedJobs()
	for _, j := range g.Jobs {
		if _, done := g.Result(j); !done && divergedHere(g, j) {
			failed = append(failed, j)
		}
	}
	return failed
}

// failures are a line for each job that failed, and for each whose last attempt was killed.
func failures(g *sweep.Grid) (all []string) {
	failed := failedJobs(g)
	for _, j := range g.Jobs {
		if _, done := g.Result(j); done || notNeeded(g, j) {
			continue
		}
		e, ended := g.LastEnding(j)
		switch {
		case slices.Contains(failed, j) && ended && !e.Killed:
			all = append(all, fmt.Sprintf("%s  failed: %v", j.Name(), e))
		case slices.Contains(failed, j):
			all = append(all, fmt.Sprintf("%s  given up: %s", j.Name(), g.LastWords(j)))
		case ended && e.Killed:
			all = append(all, fmt.Sprintf("%s  %v; it goes on where it was saved", j.Name(), e))
		}
	}
	return all
}
