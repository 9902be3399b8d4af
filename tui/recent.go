package tui

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"time"

	"pgrlab/core/lab"
	"pgrlab/core/run"
)

// Recent is an earlier run.
type Recent struct {
	Dir, What string
	When      time.Time
	Step      int
	Return    float64 // of the last evaluation; NaN without one
}

// diskOf is about what a run writes: some lines of 200 bytes at each evaluation and
// episode, and the policy's weights.
func diskOf(c lab.Config) float64 {
	lines := 50.0
	if c.Evaluation.Every > 0 {
		lines += 6 * float64(c.Steps) / float64(c.Evaluation.Every)
	}
	weights := 0.0
	last := 64.0 // about the observation
	for _, h := range c.Agent.Hidden {
		weights += last * float64(h)
		last = float64(h)
	}
	return 200*lines + 4*weights
}

// EstimateFrom is how long a run of c takes, from the speed of the newest earlier
// run of the same task, method and scale on this machine; false when there is none.
func EstimateFrom(c lab.Config, recent []Recent) (time.Duration, bool) {
	host, _ := os.Hostname()
	for _, r := range recent {
		events, err := ReadJournal(r.Dir)
		if err != nil || len(events) < 2 {
			continue
		}
		s, ok := events[0].Body.(lab.Start)
		if !ok || s.Task != c.Task || s.Method != c.Method || s.Scale != c.Scale || s.Obs.Host != host {
			continue
		}
		last := events[len(events)-1]
		if wall := last.Wall.Sub(events[0].Wall); last.Step > 500 && wall > 0 {
			return time.Duration(float64(wall) / float64(last.Step) * float64(c.Steps)), true
		}
	}
	return 0, false
}

// RecentRuns looks for run folders directly below root, newest first, at most so
// many.
func RecentRuns(root string, most int) []Recent {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil
	}
	var out []Recent
	for _, e := range entries {
		dir := filepath.Join(root, e.Name())
		if info, err := os.Stat(filepath.Join(dir, run.JournalName)); err == nil {
			out = append(out, Recent{Dir: dir, When: info.ModTime()})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].When.After(out[j].When) })
	kept := out[:0]
	for _, r := range out {
		if len(kept) == most {
			break
		}
		if described, err := describe(r); err == nil {
			kept = append(kept, described)
		}
	}
	return kept
}

// describe reads what a run was and how far it came.
func describe(r Recent) (Recent, error) {
	events, err := ReadJournal(r.Dir)
	if err != nil {
		return r, err
	}
	if len(events) == 0 {
		return r, errors.New("empty")
	}
	r.Return = nan()
	for _, e := range events {
		r.Step = e.Step
		switch b := e.Body.(type) {
		case lab.Start:
			r.What = fmt.Sprintf("%s on %s, scale %s, seed %d", b.Method, b.Task, b.Scale, b.Seed)
		case lab.Evaluated:
			r.Return = float64(b.ReturnMean)
		}
	}
	return r, nil
}
