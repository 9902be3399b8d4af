package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"pgrlab/core/shell"
	"pgrlab/core/sweep"
	"pgrlab/core/sweep/ssh"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/command/terminal"
)

const (
	lookEvery = time.Second // time between two looks at the disk
	// silence is how long a worker may show no sign of life before the view considers it gone.
	// Clocks of other machines are not trusted: only changes count.
	silence = 20 * time.Second
)

// pulse is when a worker last showed a sign of life.
type pulse struct {
	beats int
	at    time.Time
}

// hosts is a sweep whose jobs run on machines that share the disk.
type hosts struct {
	grid   *sweep.Grid
	out    string
	record ssh.Record
	ssh    []string        // options of ssh
	ended  func(sweep.Job) // gets the jobs that are done
	pulses map[string]pulse
	done   map[int]bool
	gone   map[string]string // how workers ended, or why there is none, where that was reported
}

func newHosts(g *sweep.Grid, out string, r ssh.Record, options []string) *hosts {
	h := &hosts{grid: g, out: out, record: r, ssh: options, ended: func(sweep.Job) {}, pulses: map[string]pulse{}, done: map[int]bool{}, gone: map[string]string{}}
	for _, j := range g.Jobs {
		_, h.done[j.Index] = g.Result(j)
	}
	return h
}

// begin checks the hosts and starts workers where none is at work. It reports a host that cannot
// take part. The first time, nothing begins without that host; later the others go on. Two commands take
// turns, so that the record has the hosts of both.
func (h *hosts) begin(ctx context.Context, say func(string)) error {
	path, dir, err := program(h.grid)
	if err != nil {
		return err
	}
	end, err := turn(h.grid, "ssh.lock", "begins on hosts")
	if err != nil {
		return err
	}
	defer end()
	before, err := ssh.Open(h.grid.Folder())
	first := errors.Is(err, os.ErrNotExist)
	if err == nil {
		err = before.Usable()
	}
	if err != nil && !first {
		return err
	}
	client, err := ssh.NewClient(path, h.ssh)
	if err != nil {
		return err
	}
	defer client.Close()
	token, err := h.grid.Token()
	if err != nil {
		return err
	}
	defer token.Close()
	build, err := buildSum()
	if err != nil {
		return err
	}
	fit := h.fit(ctx, client, dir, token, build, say)
	if n := len(h.record.Hosts) - len(fit); n > 0 && (first || len(fit) == 0) {
		return fmt.Errorf("%d of %d hosts cannot take part: mend that or leave them out of --on", n, len(h.record.Hosts))
	}
	h.record.Former, h.record.Options = h.former(before), h.ssh
	if err := h.record.Keep(h.grid.Folder()); err != nil {
		return err
	}
	for _, host := range fit {
		say(fmt.Sprintf("%s: %s", host.Name, h.start(ctx, client, dir, host)))
	}
	return nil
}

// former are the hosts of an earlier record that are not named any more and whose workers have not ended.
func (h *hosts) former(before ssh.Record) (all []ssh.Host) {
	for _, host := range before.All() {
		same := func(o ssh.Host) bool { return o.Name == host.Name }
		if w, err := h.grid.Worker(host.Name); err == nil && w.Ended == "" && !slices.ContainsFunc(h.record.Hosts, same) {
			all = append(all, host)
		}
	}
	return all
}

// fit finds the hosts that can take part, and reports the others.
func (h *hosts) fit(ctx context.Context, client *ssh.Client, dir string, token *sweep.Token, build string, say func(string)) (fit []ssh.Host) {
	for _, host := range h.record.Hosts {
		if err := check(ctx, client, host, dir, token, build); err != nil {
			h.gone[host.Name] = cli.Line(err)
			say(fmt.Sprintf("%s: %s", host.Name, h.gone[host.Name]))
			continue
		}
		fit = append(fit, host)
	}
	return fit
}

// check says why a host cannot take part.
func check(ctx context.Context, client *ssh.Client, host ssh.Host, dir string, token *sweep.Token, build string) error {
	text, err := client.Run(ctx, host.Name, "sweep", "worker", dir, "--look", token.Name)
	if err != nil {
		return err
	}
	var seen looked
	if err := json.Unmarshal([]byte(text), &seen); err != nil {
		return fmt.Errorf("its answer is none of this program: %.80q", text)
	}
	if seen.Build != build {
		return fmt.Errorf("%s there is another build of pgrlab: put this one on a disk that both share", client.Program)
	}
	return token.Shared(seen.Seen)
}

// start starts a worker on a host, and reports the result.
func (h *hosts) start(ctx context.Context, client *ssh.Client, dir string, host ssh.Host) string {
	words := append([]string{"sweep", "worker", dir, "--name", host.Name, "--detach"}, h.record.Flags...)
	if host.Jobs > 0 {
		words = append(words, "--jobs", strconv.Itoa(host.Jobs))
	}
	_, err := client.Run(ctx, host.Name, words...)
	var failed ssh.Failed
	switch {
	case err == nil:
		return "began"
	case errors.As(err, &failed) && failed.Status == cli.StatusElsewhere:
		return "is at work already"
	}
	h.gone[host.Name] = cli.Line(err)
	return h.gone[host.Name]
}

// look reads what has changed on the disk.
func (h *hosts) look(now time.Time) (said []string) {
	for _, j := range h.grid.Jobs {
		r, done := h.grid.Result(j)
		if !done || h.done[j.Index] {
			continue
		}
		h.done[j.Index] = true
		h.ended(j)
		said = append(said, sweep.Said(r))
	}
	for _, host := range h.record.Hosts {
		w, err := h.grid.Worker(host.Name)
		if err != nil {
			continue
		}
		if p, seen := h.pulses[w.Name]; !seen || p.beats != w.Beats {
			h.pulses[w.Name] = pulse{w.Beats, now}
			delete(h.gone, w.Name)
		}
		how := w.Ended
		if how == "" && now.Sub(h.pulses[w.Name].at) >= silence {
			how = fmt.Sprintf("no sign of life for %v: its jobs go on elsewhere where they were saved", silence)
		}
		if how != "" && h.gone[w.Name] == "" {
			h.gone[w.Name] = how
			said = append(said, fmt.Sprintf("%s: %s", w.Name, how))
		}
	}
	return said
}

// over says whether nothing more will come, and with what result.
func (h *hosts) over() (bool, error) {
	missing := h.grid.Missing()
	if len(missing) == 0 {
		return true, nil
	}
	for _, host := range h.record.Hosts {
		if h.gone[host.Name] == "" {
			return false, nil
		}
	}
	return true, fmt.Errorf("%d of %d jobs are missing and no host is at work: %s", len(missing), len(h.grid.Jobs), h.grid.WhatHelps(missing, "start the sweep again"))
}

// follow shows the sweep until all is done, or the person leaves.
func (h *hosts) follow(ctx context.Context, progress *terminal.Progress) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for now := time.Now(); ; {
		if err := h.grid.Stands(); err != nil {
			return err
		}
		for _, text := range h.look(now) {
			progress.Say(text)
		}
		if over, err := h.over(); over {
			progress.Say(summaryOf(h.grid))
			return err
		}
		if progress.Due(now) {
			progress.RewriteAll(workerLines(h.grid))
		}
		select {
		case <-ctx.Done():
			progress.Say(fmt.Sprintf("the hosts go on without this view: pgrlab sweep status %s shows them, pgrlab sweep cancel %s ends them", shell.Word(h.out), shell.Word(h.out)))
			return context.Cause(ctx)
		case now = <-tick.C:
		}
	}
}

// workerLines are a line for each worker and for each of its jobs, and the summary.
func workerLines(g *sweep.Grid) []string {
	var all []string
	for _, w := range g.Workers() {
		if w.Element != "" {
			continue // Slurm's queue reports it
		}
		if g.IsGone(w) {
			if n := waiting(g, w); n > 0 {
				all = append(all, fmt.Sprintf("%s  is gone: %d of its jobs wait for another worker", w.Name, n))
			}
			continue
		}
		text := fmt.Sprintf("%s  %d of %d at work", w.Name, len(w.Running), w.Jobs)
		if len(w.Failed) > 0 {
			text += fmt.Sprintf(", %d failed", len(w.Failed))
		}
		if w.Ended != "" {
			all = append(all, fmt.Sprintf("%s  ended: %s", w.Name, w.Ended))
			continue
		}
		if age := time.Since(w.Beat).Round(time.Second); age > silence { // clocks may differ: this is only for people
			text += fmt.Sprintf("; last sign of life %v ago", age)
		}
		all = append(all, text)
		for _, i := range w.Running {
			if j, err := g.Job(i); err == nil {
				where, _ := rundir.Standing(g.Run(j))
				all = append(all, fmt.Sprintf("  %s  %s", j.Name(), where))
			}
		}
	}
	return append(all, summaryOf(g))
}

// waiting counts the jobs of a worker that is gone with which no other one has gone on.
func waiting(g *sweep.Grid, w sweep.Worker) (n int) {
	for _, i := range w.Running {
		if j, err := g.Job(i); err == nil && !g.IsHeld(j) {
			if _, done := g.Result(j); !done {
				n++
			}
		}
	}
	return n
}

// summaryOf counts the jobs of a sweep whose workers report their progress.
func summaryOf(g *sweep.Grid) string {
	done, left := 0, 0
	for _, j := range g.Jobs {
		if _, is := g.Result(j); is {
			done++
		} else if notNeeded(g, j) {
			left++
		}
	}
	text := fmt.Sprintf("%d of %d done", done, len(g.Jobs))
	if left > 0 {
		text += fmt.Sprintf(", %d not needed", left)
	}
	if n := len(failedJobs(g)); n > 0 {
		text += fmt.Sprintf(", %d failed", n)
	}
	return text
}

// sshRecord records how a sweep was begun on hosts.
func (f *sweepFlags) sshRecord() (ssh.Record, error) {
	all, err := ssh.Hosts(strings.TrimPrefix(f.on, onSSH), f.jobs)
	if err != nil {
		return ssh.Record{}, cli.AsUsage(err)
	}
	r := ssh.Record{Hosts: all, Flags: []string{"--threads", strconv.Itoa(f.threads)}}
	if f.disk != "" {
		r.Flags = append(r.Flags, "--disk", f.disk)
	}
	if f.jobsOn != "" {
		r.Flags = append(r.Flags, "--device", f.jobsOn)
	}
	return r, nil
}

// runOnHosts starts workers where none is at work and shows their progress.
func (f *sweepFlags) runOnHosts(parent context.Context, g *sweep.Grid, w io.Writer) error {
	record, err := f.sshRecord()
	if err != nil {
		return err
	}
	return f.shown(parent, g, w, func(ctx context.Context, progress *terminal.Progress, ended func(sweep.Job)) error {
		h := newHosts(g, f.out, record, f.ssh)
		h.ended = ended
		if len(g.Missing()) > 0 {
			if err := h.begin(parent, progress.Say); err != nil {
				return err
			}
		}
		return h.follow(ctx, progress)
	})
}
