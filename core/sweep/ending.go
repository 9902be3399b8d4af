package sweep

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"pgrlab/core/run"
)

// Ending is how an attempt at a job ended.
type Ending struct {
	Number int `json:"-"` // of the attempt
	// Killed says that the attempt wrote down no end.
	Killed bool `json:"-"`

	How    string `json:"how"`
	Status int    `json:"status"`         // exit status, as package sweep describes it
	Step   int    `json:"step,omitempty"` // at which the run failed, if it did
	// Diverged says that the numbers of the run were the reason, so that it fails again.
	Diverged bool `json:"diverged,omitempty"`
}

// failed says whether the job ended with an error of its own.
func (e Ending) failed() bool {
	return !e.Killed && !slices.Contains([]int{0, StatusAgain, StatusElsewhere, StatusStopped, statusTerminated}, e.Status)
}

// String says in a few words why there is no result.
func (e Ending) String() string {
	switch {
	case e.Killed:
		return fmt.Sprintf("attempt %d was killed", e.Number)
	case e.Step > 0:
		return fmt.Sprintf("step %d: %s", e.Step, e.How)
	}
	return e.How
}

// End gives the job back and records how the attempt ended.
func (a *Attempt) End(how Ending) error {
	host, _ := os.Hostname() // for people only
	err := replaceJSON(a.folder, a.path(attemptName), struct {
		PID   int    `json:"pid"`
		Host  string `json:"host"`
		Began string `json:"began"`
		Ended string `json:"ended"`
		Ending
	}{os.Getpid(), host, a.began.UTC().Format(time.RFC3339), time.Now().UTC().Format(time.RFC3339), how})
	if closed := a.close(); err == nil {
		err = closed
	}
	return err
}

// LastEnding returns how the last attempt at a job ended; false if there was none, or one goes on, or
// may go on on another machine that shares a disk without locks.
func (g *Grid) LastEnding(j Job) (e Ending, ended bool) {
	all := g.attempts(j)
	if len(all) == 0 || g.IsHeld(j) {
		return Ending{}, false
	}
	text, err := g.folder.Read(filepath.Join(g.attempt(j, all[0]), attemptName))
	if err != nil || json.Unmarshal(text, &e) != nil {
		if run.HasNoLocks(g.try(j.Name())) {
			return Ending{}, false
		}
		e = Ending{Killed: true}
	}
	e.Number = all[0]
	return e, true
}

// attempts are the numbers of the attempts at a job, the last one first.
func (g *Grid) attempts(j Job) (all []int) {
	entries, _ := g.folder.ReadDir(filepath.Join(j.Name(), attemptsName))
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && n > 0 && e.Name() == strconv.Itoa(n) {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	slices.Reverse(all)
	return all
}

// attempt is the folder of an attempt within that of the sweep.
func (g *Grid) attempt(j Job, number int) string {
	return filepath.Join(j.Name(), attemptsName, strconv.Itoa(number))
}

// FailedJobs returns the jobs without a result whose last attempt failed, or that a worker has given
// up, and that no process is trying now.
func (g *Grid) FailedJobs() []Job {
	given, once := map[int]bool{}, map[int]bool{} // once: by workers that have ended
	for _, w := range g.Workers() {
		into := once
		if g.IsAtWork(w.Name) {
			into = given
		}
		for _, i := range w.Failed {
			into[i] = true
		}
	}
	return slices.DeleteFunc(g.Missing(), func(j Job) bool {
		e, ended := g.LastEnding(j)
		gaveUp := given[j.Index] || once[j.Index] && (!ended || e.Killed) // a later attempt may have saved itself
		return g.IsHeld(j) || !gaveUp && !(ended && e.failed())
	})
}

// WhatHelps says of jobs that failed what to do about them: what diverged diverges again with the same
// settings and seed, and other jobs can be tried again, by what again says.
func (g *Grid) WhatHelps(failed []Job, again string) string {
	diverged := 0
	for _, j := range failed {
		if e, ended := g.LastEnding(j); ended && e.Diverged {
			diverged++
		}
	}
	const why = "with the same settings and seeds that happens again"
	switch {
	case diverged == 0:
		return again
	case diverged == len(failed):
		return "their numbers diverged, and " + why
	}
	return fmt.Sprintf("%d of them diverged, and %s; for the others: %s", diverged, why, again)
}
