package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/cost"
	"pgrlab/core/event"
	"pgrlab/core/lab"
	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/core/task"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/forks"
	"pgrlab/tui/command/machine"
	"pgrlab/tui/command/replay"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/command/runflags"
	"pgrlab/tui/pane"
)

// A session is one run of this process, with a screen or without.
type session struct {
	deps    cli.Deps
	config  config.Config
	task    task.Task
	threads int
	place   machine.Place
	memory  int64             // limit on a GPU's memory; 0: what is free
	report  func(line string) // reports what takes long at the start; nil: it is kept in said
	use     atomic.Pointer[pane.GPU]
	home    string // folder of the user's settings
	lines   bool   // lines instead of a screen
	folder  *run.Folder

	recorded []float32 // rows with which D_real begins; nil: it is empty
	own      string    // a note about the run that they are from; "": none

	saving     lab.Saving
	resumption *lab.Resumption // how a run is resumed; nil: it is new
	said       []string        // messages about that
	history    int             // number of earlier events

	copies
	uncopied   error // why the event file lacks the end of the run, after ended
	unrecorded error // why the scenes lack it

	forks forks.Group  // children forked on the screen
	holds holds        // until they are over
	turns *forks.Turns // of a run that is such a child; nil: it trains without waiting for others

	later       []event.Forked // made after the end of the run, of which the lab does not know
	endChildren bool           // the forks end with the run, as the person wants

	startup  time.Duration // how long start took
	expected cost.Units    // what a trial found

	begin   func(args ...string) *exec.Cmd // makes a process of this program; nil: cli.Self
	heir    *heir                          // set if this process continues another one's run
	pause   *event.Pause                   // the run begins with this pause; nil: it trains
	signals <-chan string                  // messages about signals; nil: none
	leaving chan struct{}                  // asks the screen to leave the run
	serving

	lab   *lab.Lab                // once started
	live  atomic.Pointer[lab.Lab] // the same, for the goroutine that watches for signals
	ended chan struct{}           // closed when the run is over
	err   error                   // of the run, after ended
}

// openRun checks the flags and makes the run folder, so that errors show before anything slow
// begins.
func openRun(d cli.Deps, r *runflags.Flags, now time.Time, h *heir) (*session, error) {
	if r.Resume != "" {
		return reopen(d, r, h)
	}
	if r.DropTail {
		return nil, cli.Usagef("--drop-tail goes with --resume: leave it out, or say which run to go on with")
	}
	config, task, err := r.Configure(d)
	if err != nil {
		return nil, err
	}
	saving, err := savingOf(r)
	if err != nil {
		return nil, err
	}
	memory, err := gpuMemory(r)
	if err != nil {
		return nil, err
	}
	doc, err := presets.Encode(config)
	if err != nil {
		return nil, err
	}
	free := func() string { return rundir.Default(now, config.Task, config.Method, config.Seed) }
	dir := cmp.Or(r.Out, free())
	if err := run.Taken(dir); err != nil {
		return nil, cli.AsUsage(err)
	}
	if err := config.FilmFits(run.Free(dir), task); err != nil {
		return nil, cli.AsUsage(err)
	}
	folder, err := create(r.Out, doc, free)
	if err != nil {
		return nil, err
	}
	if err := keepTask(folder, task); err != nil {
		folder.Discard()
		return nil, err
	}
	s := &session{deps: d, config: config, task: task, threads: r.Threads, place: r.Place, memory: memory, folder: folder, saving: saving, ended: make(chan struct{})}
	s.keepLog()
	s.leaving = make(chan struct{}, 1)
	s.newServing()
	return s, nil
}

// create makes the folder of a new run: out or, if that is empty, one that is free, even if others begin
// at the same moment.
func create(out string, doc []byte, free func() string) (*run.Folder, error) {
	for {
		folder, err := run.Create(cmp.Or(out, free()), doc)
		if out != "" || !run.IsInUse(err) && !errors.Is(err, run.ErrHolds) {
			return folder, err
		}
	}
}

// keepTask writes what a task of files is made from into the folder of a run, which then needs nothing
// else.
func keepTask(folder *run.Folder, t task.Task) error {
	if t.Own == nil {
		return nil
	}
	all, err := t.Own.Archive()
	if err != nil {
		return err
	}
	return folder.Write(run.TaskFile(t.Name), all)
}

// keepLog keeps what the task's program writes to standard error in the run folder, if another program simulates it.
func (s *session) keepLog() {
	if !s.deps.Simulates(s.config.Task) {
		return
	}
	p, err := s.deps.Programs.Open(s.config.Task, s.config.Environment.Outside)
	if err == nil {
		err = s.logOf(p)
	}
	if err != nil {
		s.said = append(s.said, fmt.Sprintf("the log of %s is not kept: %s", s.config.Task, cli.Line(err)))
	}
}

func (s *session) logOf(p cli.Program) error {
	log, err := s.folder.Log("env.log")
	if err != nil {
		return err
	}
	return p.KeepLog(log.File)
}

// start makes device and lab and starts the run; ctx ends it. It is called once; after an error
// there is no run, and the folder is dropped.
func (s *session) start(ctx context.Context, onFault lab.Fault) error {
	if s.place.Said != "" {
		s.said = append(s.said, s.place.Said)
	}
	begin := time.Now()
	device, err := s.deps.Device(s.place.Request(s.threads, s.memory, s.note))
	if err != nil {
		s.drop()
		err = fmt.Errorf("start device %s: %w", s.config.Device, err)
		if s.threads > 0 { // the only detail of the device that was chosen
			err = cli.AsUsage(err)
		}
		return err
	}
	l, err := s.restore(ctx, device)
	if err == nil {
		err = s.prepare(l, device)
	}
	if err != nil {
		device.Close()
		s.drop()
		return fmt.Errorf("start the lab: %w", err)
	}
	l.Version(s.deps.Version)
	l.Expect(s.expected)
	l.OnFault(onFault)
	if s.pause != nil {
		l.Send(*s.pause) // its mailbox is still empty
		s.pause = nil
	}
	s.lab, s.startup = l, time.Since(begin)
	s.live.Store(l)
	s.watchGPU()
	ended := s.ended // a run that is taken back has another channel
	go func() {
		defer close(ended)
		copied, recorded := s.copyEvents(l), s.recordScenes(l)
		s.err = l.Run(ctx)
		recorded()
		s.uncopied = copied()
		if err := device.Close(); s.err == nil && err != nil {
			s.err = fmt.Errorf("close device: %w", err)
		}
	}()
	s.listen()
	return nil
}

// prepare makes a GPU compile what the run will use, so that its memory is known, announced and
// reserved before the run begins, or refused; a copy of frames, which yields, comes later.
func (s *session) prepare(l *lab.Lab, device cli.Device) error {
	if s.place.GPU == nil {
		return nil
	}
	said, err := l.Prepare()
	s.said = append(s.said, said...)
	if d, holds := device.(interface{ Holds() string }); holds && err == nil {
		s.said = append(s.said, d.Holds())
	}
	return err
}

// note reports what takes long while the run starts.
func (s *session) note(text string) {
	if s.report != nil {
		s.report(text)
		return
	}
	s.said = append(s.said, text)
}

// watchGPU reads the state of the GPU from time to time during the run, so that screens need not: a
// reading takes some milliseconds.
func (s *session) watchGPU() {
	if s.place.GPU == nil || s.deps.WatchGPU == nil {
		return
	}
	ended := s.ended
	go func() {
		tick := time.NewTicker(2 * time.Second)
		defer tick.Stop()
		for {
			g, err := s.deps.WatchGPU(s.place.GPU.UUID)
			if err != nil {
				return // it cannot be known
			}
			s.use.Store(&g)
			select {
			case <-ended:
				return
			case <-tick.C:
			}
		}
	}()
}

// drop gives up a run that did not begin. The folder of a new one is removed, so that the same --out
// can be used again.
func (s *session) drop() {
	if s.resumption == nil {
		s.folder.Discard()
	} else {
		s.folder.Close()
	}
}

// result is the final error: the signal, if a signal ended the run.
func (s *session) result(ctx context.Context) error {
	var signal cli.Signalled
	if (errors.Is(s.err, lab.ErrInterrupted) || errors.Is(s.err, lab.ErrHandedOver)) && errors.As(context.Cause(ctx), &signal) {
		return signal
	}
	if errors.Is(s.err, run.ErrGone) {
		return fmt.Errorf("%s on %s: %w: begin it again, or go on with a copy of the folder: pgrlab train --resume COPY", s.config.Method, s.config.Task, s.err)
	}
	if s.err != nil {
		return fmt.Errorf("%s on %s: %w: the journal is in %s", s.config.Method, s.config.Task, s.err, s.folder.Dir())
	}
	return nil
}

// summary says at the end what was reached and where the run folder is.
func (s *session) summary() []string {
	snapshot := s.lab.Snapshot()
	if s.config.Dreams() {
		return s.dreamt(snapshot.Step)
	}
	said := fmt.Sprintf("%s on %s, %s: %d of %d steps", s.config.Method, s.config.Task, Seeds(s.config.Seed, s.config.Members), snapshot.Step, s.config.Steps)
	if s.config.Sees() {
		said += fmt.Sprintf(" (%d of %d frames)", s.config.Frames(snapshot.Step), s.config.Frames(s.config.Steps))
	}
	if reached := Reached(s.lab.Events(0)); reached != "" {
		said += reached
		if reported := presets.Beside(presets.OfRun(s.config)); reported != "" {
			said += " (" + reported + ")"
		}
	}
	if errors.Is(s.err, run.ErrGone) {
		return []string{said, Badge(s.lab.Events(0))} // there is nothing to look at
	}
	dir := s.folder.Dir()
	next := []string{replay.Again(dir, s.lab.Events(0)), beyond(s.config, dir)}
	var gone *lab.DeviceGone
	switch {
	case errors.As(s.err, &gone) && gone.Saved:
		next = []string{fmt.Sprintf("go on from %s, on another device: pgrlab train --resume %s --device cpu", gone.Before, shell.Word(dir))}
	case gone != nil:
		next = []string{fmt.Sprintf("begin again, on another device: pgrlab train --preset %s --device cpu", shell.Word(filepath.Join(dir, run.ConfigName)))}
	case snapshot.Step < s.config.Steps:
		next = []string{"go on: pgrlab --resume " + shell.Word(dir)}
	}
	return append([]string{
		said,
		Badge(s.lab.Events(0)),
		"run folder: " + dir,
		"look again: pgrlab replay " + shell.Word(dir),
	}, next...)
}

// beyond says how a complete run goes on: some that cannot be made longer can be forked.
func beyond(c config.Config, dir string) string {
	if _, err := c.Longer(c.Steps + 1); err != nil {
		return "go beyond its end: pgrlab fork " + shell.Word(dir) + " --steps N"
	}
	return "go beyond its end: pgrlab --resume " + shell.Word(dir) + " --steps N"
}

// process is a process of this program.
func (s *session) process(args ...string) *exec.Cmd {
	if s.begin != nil {
		return s.begin(args...)
	}
	return cli.Self(args...)
}
