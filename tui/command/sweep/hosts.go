package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"pgrlab/core/sweep"
	"pgrlab/core/sweep/hosts"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/command/terminal"
)

// onSSH begins what --on says of hosts.
const onSSH = "ssh:"

// quiet is how long a worker may say nothing of itself before it counts as gone.
const quiet = 30 * time.Second

// fleet is a sweep whose jobs hosts do.
type fleet struct {
	grid  *sweep.Grid
	out   string
	hosts []string
	ended func(sweep.Job) // hears of jobs that are done

	done  map[int]bool
	heard map[string]heard
	known bool // whether it was looked at before
}

// heard is what was heard of a worker, and when it was another thing last, by the clock here.
type heard struct {
	hosts.Worker
	at   time.Time
	gone bool
}

func newFleet(g *sweep.Grid, out string, names []string) *fleet {
	return &fleet{grid: g, out: out, hosts: names, ended: func(sweep.Job) {}, done: map[int]bool{}, heard: map[string]heard{}}
}

// eachHost asks all hosts at once and joins what went wrong.
func eachHost(all []hosts.Host, ask func(h hosts.Host) error) error {
	errs := make([]error, len(all))
	var asking sync.WaitGroup
	for i, h := range all {
		asking.Go(func() { errs[i] = ask(h) })
	}
	asking.Wait()
	return errors.Join(errs...)
}

// survey asks every host what it is, and refuses those that could not work.
func (f *sweepFlags) survey(ctx context.Context, d cli.Deps, all []hosts.Host) (map[string]place, error) {
	self, dir, err := f.whereItIs()
	if err != nil {
		return nil, err
	}
	token, remove, err := leaveToken(dir)
	if err != nil {
		return nil, err
	}
	defer remove()
	var mu sync.Mutex
	places := map[string]place{}
	err = eachHost(all, func(h hosts.Host) error {
		at, err := askHost(ctx, h.Name, self, dir, "--token", token)
		switch {
		case err != nil:
			return err
		case at.Version != d.Version:
			return fmt.Errorf("%s: its %s is version %s, this one %s: all hosts need the same", h.Name, self, at.Version, d.Version)
		case !at.Sees:
			return fmt.Errorf("%s does not see what is in %s: the folder of the sweep must be on a disk that all hosts share", h.Name, dir)
		}
		mu.Lock()
		defer mu.Unlock()
		places[h.Name] = at
		return nil
	})
	return places, err
}

// leaveToken leaves a file in the folder of a sweep by which a host knows that it sees it.
func leaveToken(dir string) (name string, remove func(), err error) {
	in := filepath.Join(dir, "hosts")
	if err := os.MkdirAll(in, 0o777); err != nil {
		return "", nil, err
	}
	f, err := os.CreateTemp(in, "token-")
	if err != nil {
		return "", nil, err
	}
	f.Close()
	return filepath.Base(f.Name()), func() { os.Remove(f.Name()) }, nil
}

// stopHosts tells the workers of a sweep to save their runs and end, and returns how many
// there were.
func (f *sweepFlags) stopHosts(ctx context.Context, names []string) (n int, err error) {
	self, dir, err := f.whereItIs()
	if err != nil {
		return 0, err
	}
	token, remove, err := leaveToken(dir)
	if err != nil {
		return 0, err
	}
	defer remove()
	var all []hosts.Host
	for _, name := range names {
		all = append(all, hosts.Host{Name: name})
	}
	var mu sync.Mutex
	err = eachHost(all, func(h hosts.Host) error {
		at, err := askHost(ctx, h.Name, self, dir, "--token", token, "--stop")
		mu.Lock()
		defer mu.Unlock()
		if at.Working {
			n++
		}
		return err
	})
	return n, err
}

// askHost has a host say what it is.
func askHost(ctx context.Context, name, self, dir string, more ...string) (at place, err error) {
	ctx, stop := context.WithTimeout(ctx, 30*time.Second)
	defer stop()
	out, err := hosts.Run(ctx, name, append([]string{self, "sweep", "host", dir, "--host", name}, more...)...)
	var failed *hosts.Failed
	switch {
	case errors.As(err, &failed) && (failed.Status == 127 || failed.Status == 126):
		return at, fmt.Errorf("%s cannot run %s: the program must be there at the same path, as on a disk that all hosts share", name, self)
	case err != nil:
		return at, err
	}
	if err := json.Unmarshal([]byte(out), &at); err != nil {
		return at, fmt.Errorf("%s: %s sweep host printed %q: does a start-up file of the shell there print something?", name, self, strings.TrimSpace(out))
	}
	return at, nil
}

// whereItIs is the program and the folder of the sweep as hosts have them.
func (f *sweepFlags) whereItIs() (self, dir string, err error) {
	if self, err = os.Executable(); err != nil {
		return "", "", err
	}
	dir, err = filepath.Abs(f.out)
	return self, dir, err
}

// start has a host work, detached.
func (f *sweepFlags) start(ctx context.Context, h hosts.Host) error {
	self, dir, err := f.whereItIs()
	if err != nil {
		return err
	}
	in := hosts.Folder(dir, h.Name)
	if err := hosts.Forget(dir, h.Name); err != nil {
		return err
	}
	words := []string{self, "sweep", "work", dir, "--host", h.Name, "--threads", strconv.Itoa(f.threads)}
	if h.Jobs > 0 {
		words = append(words, "--jobs", strconv.Itoa(h.Jobs))
	}
	if f.disk != "" {
		words = append(words, "--disk", f.disk)
	}
	script := fmt.Sprintf("cd / && { setsid nohup %s </dev/null >>%s 2>&1 & }", hosts.Quoted(words...), hosts.Quoted(filepath.Join(in, hosts.LogName)))
	ctx, stop := context.WithTimeout(ctx, 30*time.Second)
	defer stop()
	_, err = hosts.Run(ctx, h.Name, "sh", "-c", script)
	return err
}

// runOnHosts starts workers where there are none, and shows how they get on.
func (f *sweepFlags) runOnHosts(parent context.Context, d cli.Deps, g *sweep.Grid, w io.Writer) error {
	failed := func(err error) error { return fmt.Errorf("sweep %s: %w", f.out, err) }
	all, err := hosts.Parse(strings.TrimPrefix(f.on, onSSH))
	if err != nil {
		return cli.Usagef("sweep: --on %s: %v", f.on, err)
	}
	file := &sweepResultsFile{path: f.results, grid: g}
	if err := file.leave(w); err != nil {
		return failed(err)
	}
	places, err := f.survey(parent, d, all)
	if err != nil {
		return failed(err)
	}
	progress := terminal.NewProgress(w)
	var names []string
	for i, h := range all {
		names = append(names, h.Name)
		if f.jobs > 0 && h.Jobs == 0 {
			all[i].Jobs = f.jobs
		}
		if places[h.Name].Working {
			progress.Say(h.Name + " works at it already")
		}
	}
	if len(g.Missing()) > 0 {
		err = eachHost(all, func(h hosts.Host) error {
			if places[h.Name].Working {
				return nil
			}
			return f.start(parent, h)
		})
	}
	if err != nil {
		return failed(err)
	}
	fl := newFleet(g, f.out, names)
	fl.ended = func(j sweep.Job) {
		if err := file.keep([]sweep.Job{j}, io.Discard); err != nil {
			progress.Say(fmt.Sprintf("%s: %v; the next sweep with --results tries again", j.Name(), err))
		}
	}
	ctx, stop := terminal.StartWatch(parent, func() {}, func(string) {}, progress.Say)
	defer stop()
	err = fl.follow(ctx, progress)
	var s cli.Signalled
	if errors.As(err, &s) {
		return err
	}
	for _, after := range []error{file.keep(g.Jobs, w), sweepResults(w, g, f.out, file.standing)} {
		if err == nil {
			err = after
		}
	}
	if err != nil {
		return failed(err)
	}
	return nil
}

// follow shows the sweep until all is done, or the person has enough.
func (c *fleet) follow(ctx context.Context, progress *terminal.Progress) error {
	for {
		for _, text := range c.look(time.Now()) {
			progress.Say(text)
		}
		if over, err := c.over(); over {
			progress.Say(c.summary())
			return err
		}
		progress.RewriteAll(c.lines())
		t := time.NewTimer(hosts.Beat)
		select {
		case <-ctx.Done():
			t.Stop()
			progress.Say(fmt.Sprintf("the jobs go on without this view: pgrlab sweep status %s shows them, pgrlab sweep cancel %s ends them", c.out, c.out))
			return context.Cause(ctx)
		case <-t.C:
		}
	}
}

// look asks the disk what is done, and what workers have said.
func (c *fleet) look(now time.Time) (said []string) {
	for _, j := range c.grid.Jobs {
		if r, done := c.grid.Result(j); done && !c.done[j.Index] {
			c.done[j.Index] = true
			c.ended(j)
			if c.known { // else it was done before
				text := j.Name() + ": done"
				if r.Return != nil {
					text += fmt.Sprintf(", return %.1f, best %.1f", *r.Return, *r.Best)
				}
				said = append(said, text)
			}
		}
	}
	for _, name := range c.hosts {
		was, heardBefore := c.heard[name]
		w, err := hosts.Told(c.out, name)
		h := heard{Worker: w, at: was.at, gone: was.gone}
		if !heardBefore || err == nil && (w.Beat != was.Beat || w.PID != was.PID) {
			h.at, h.gone = now, false
		}
		if now.Sub(h.at) > quiet && h.Ended == "" && !h.gone {
			h.gone = true
			said = append(said, fmt.Sprintf("%s: no sign of life for %s: others take its jobs over; its log is %s", name, quiet, filepath.Join(hosts.Folder(c.out, name), hosts.LogName)))
		}
		if h.Ended != "" && was.Ended == "" && c.known && h.Ended != "done" {
			said = append(said, fmt.Sprintf("%s: %s", name, h.Ended))
		}
		c.heard[name] = h
	}
	c.known = true
	return said
}

// working are the hosts that may still do something.
func (c *fleet) working() (n int) {
	for _, h := range c.heard {
		if h.Ended == "" && !h.gone {
			n++
		}
	}
	return n
}

// over says whether nothing is to come any more, and what became of it.
func (c *fleet) over() (bool, error) {
	missing := len(c.grid.Missing())
	switch {
	case missing == 0:
		return true, nil
	case c.working() > 0:
		return false, nil
	}
	return true, fmt.Errorf("%d of %d jobs are missing and no host works at them: start the sweep again; %s has a log for each host", missing, len(c.grid.Jobs), filepath.Join(c.out, "hosts"))
}

// lines are one for each job that a host works at, and the summary.
func (c *fleet) lines() (all []string) {
	for _, name := range c.hosts {
		h := c.heard[name]
		if h.gone || h.Ended != "" {
			continue
		}
		for _, i := range h.Running {
			if j, err := c.grid.Job(i); err == nil && !c.done[i] {
				where, _ := rundir.Standing(c.grid.Run(j))
				all = append(all, fmt.Sprintf("%s  on %s, %s", j.Name(), name, where))
			}
		}
	}
	return append(all, c.summary())
}

// summary counts the jobs and the hosts.
func (c *fleet) summary() string {
	running, failed := map[int]bool{}, map[int]bool{}
	for _, h := range c.heard {
		for _, i := range h.Running {
			if h.Ended == "" && !h.gone && !c.done[i] {
				running[i] = true
			}
		}
		for _, i := range h.Failed {
			if !c.done[i] {
				failed[i] = true
			}
		}
	}
	left := 0
	for _, j := range c.grid.Jobs {
		if c.grid.IsLeft(j) {
			left++
		}
	}
	text := fmt.Sprintf("%d of %d done", len(c.done), len(c.grid.Jobs))
	for _, k := range []struct {
		n    int
		what string
	}{{len(running), "running"}, {left, "not needed"}, {len(failed), "failed"}} {
		if k.n > 0 {
			text += fmt.Sprintf(", %d %s", k.n, k.what)
		}
	}
	return text + fmt.Sprintf(", %d of %d hosts at work", c.working(), len(c.hosts))
}
