package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"pgrlab/core/agent"
	"pgrlab/core/config"
	"pgrlab/core/cost"
	"pgrlab/core/device"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/policy"
	"pgrlab/core/replica"
	"pgrlab/core/run"
	"pgrlab/core/task"
)

// Lab is one running experiment. Run is called once; all other methods may be called from any
// goroutine at any time.
type Lab struct {
	config   config.Config
	x        *experiment // belongs to the training goroutine
	mailbox  chan sent
	snapshot atomic.Pointer[event.Snapshot]

	mu     sync.Mutex // guards what follows
	events []event.Event
	ended  bool
}

// mailboxSize is how many commands may wait for the end of a slice.
const mailboxSize = 64

// New builds everything that a run of c needs. The lab owns folder from then on, unless there is
// an error; with a nil folder it writes nothing. The end of ctx ends New between two parts, with
// its cause. The caller must call Run or Close.
func New(ctx context.Context, c config.Config, task task.Task, dev device.Device, folder *run.Folder) (*Lab, error) {
	task, err := task.Played(c.Played())
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	p, err := newParts(&c, task, dev)
	if err == nil {
		p, err = p.withData(&c, task)
	}
	if err != nil {
		return nil, err
	}
	m := &making{ctx: ctx}
	defer m.done()
	var r record
	if folder != nil { // a nil pointer in an interface is not nil
		r = folder
	}
	return newLab(c, m.task(task), r, m.parts(p), dev.Name(), time.Now)
}

func newLab(c config.Config, task task.Task, folder record, p parts, deviceName string, now func() time.Time) (*Lab, error) {
	var err error
	if err = c.Validate(); err != nil {
		return nil, err
	}
	if err := c.FitsInto(config.ThisMachine(), task); err != nil {
		return nil, err
	}
	l := &Lab{config: c, mailbox: make(chan sent, mailboxSize)}
	x := &experiment{
		lab: l, config: &l.config, task: task, parts: p, now: now, device: deviceName,
		Settings: c.Knobs, meter: cost.NewMeter(now, c.Generator.Config),
	}
	x.wire(l.log, folder)
	l.x = x
	if err := x.steering.read(c.Schedule); err != nil {
		return nil, err
	}
	var hosts []*host
	for i := range c.Members {
		h := &host{x: x}
		hosts = append(hosts, h)
		if h.member, err = replica.New(replica.Cohort{Config: x.config, Task: task, Parts: p.of(i), Host: h}, i); err != nil {
			x.abandon()
			return nil, err
		}
		x.members = append(x.members, h.member)
	}
	x.cohort = newCohort(&x.place, x.members, hosts, &p)
	x.wireMembers()
	if len(cost.Rounds(x.config)) > 0 {
		x.meter.Episode = task.EpisodeSteps
	}
	for _, s := range x.steering.schedule {
		if err := x.first().CheckPosition(s.At); err != nil {
			x.abandon()
			return nil, fmt.Errorf("schedule %q: %w", s, err)
		}
	}
	x.position = knob.After(0)
	if f, real := folder.(*run.Folder); real {
		x.checkpoints.begin(run.NewWriter(f, len(x.logs())), Saving{})
	}
	x.publish(time.Time{})
	return l, nil
}

// Expect says what units of the run take that the run itself has not measured yet. It must be called
// before Run.
func (l *Lab) Expect(u cost.Units) { l.x.expected = u }

// Run trains until all steps are made, a Stop arrives, ctx ends or an error occurs. It saves
// before it returns; afterwards the lab holds only what Snapshot and Events return. After Stop
// or the last step the result is nil; after the end of ctx it is ErrInterrupted, wrapped with
// the context's cause; after HandOver it is ErrHandedOver. A panic of the training goroutine is
// returned as an error like any other.
func (l *Lab) Run(ctx context.Context) error {
	defer l.Close()
	x := l.x
	x.journal.start = x.now().Add(-x.elapsed)
	x.start()
	x.checkpoints.start()
	err := x.guarded(func() error { return x.run(ctx) })
	return x.end(ctx, x.control.withoutDevice(ctx, err))
}

// ErrInterrupted says that Run saved and ended because its context ended. The context's cause is
// wrapped with it.
var ErrInterrupted = errors.New("interrupted")

// start writes the first line of this process.
func (x *experiment) start() {
	if x.resumed != nil && x.resumed.Journal.Size > 0 {
		x.emit(event.TypeResume, event.NoMember, event.Resumed{By: "checkpoint", From: x.resumed.Position})
		x.meter.Pause()
		return
	}
	host, _ := os.Hostname() // for people only
	c := x.config
	s := event.Start{
		Task: c.Task, Method: c.Method, Scale: c.Scale, Seed: c.Seed,
		Obs: event.StartObs{Version: x.version, Host: host, Device: x.device, Time: x.now().UTC().Format(time.RFC3339)},
	}
	s.Device, s.Precision = x.kernels(), c.Precision
	if c.Members > 1 {
		s.Members = c.Members
	}
	if program := x.task.Program; program != nil {
		s.Obs.Env = program()
	}
	x.emit(event.TypeStart, event.NoMember, s)
	for _, file := range x.parts.files {
		x.emit(event.TypeData, event.NoMember, file)
	}
	x.meter.Pause()
}

// end saves and writes the last lines.
func (x *experiment) end(ctx context.Context, err error) error {
	x.gate.ending = true
	if x.gate.handedOver && errors.Is(err, errStop) {
		x.publish(time.Time{})
		return ErrHandedOver // the last line was written before the checkpoint
	}
	cause := err
	switch {
	case err == nil || errors.Is(err, errStop):
		cause = nil
	case errors.Is(err, errInterrupt):
		cause = fmt.Errorf("%w: %w", ErrInterrupted, context.Cause(ctx))
	}
	if x.gate.gone != nil {
		// nothing more can be saved
	} else if saveErr := x.guarded(x.save); saveErr != nil && (cause == nil || errors.Is(cause, ErrInterrupted)) {
		cause = saveErr
	}
	// A run that ends because something diverged is whole between two slices, and its data may be
	// wanted; one that ends within a slice is not saved.
	if x.gate.gone == nil {
		if saveErr := x.guarded(x.checkpoints.atEnd); saveErr != nil && (cause == nil || errors.Is(cause, ErrInterrupted)) {
			cause = saveErr
		}
	}
	switch {
	case cause == nil:
		x.emit(event.TypeDone, event.NoMember, event.Done{Steps: x.Step})
	case errors.Is(cause, ErrInterrupted):
		x.emit(event.TypeNote, event.NoMember, event.Noted{Text: fmt.Sprintf("interrupted after step %d", x.Step), Obs: event.KnobObs{By: context.Cause(ctx).Error()}})
	default:
		x.emit(event.TypeFailed, event.NoMember, event.Failed{Error: cause.Error()})
	}
	x.journal.flush() // for the last time
	if left := len(x.journal.backlog); isForGood(x.gate.broken) {
		cause = x.gate.broken
	} else if left > 0 {
		cause = fmt.Errorf("%w: the last lines, %d, are lost", x.gate.disk.err, left)
	}
	x.last(cause)
	return cause
}

// last publishes how the run ended.
func (x *experiment) last(cause error) {
	x.gate.pause = nil
	s := x.snapshot(x.now())
	s.State, s.PhaseETA, s.ETA, s.Ground = event.Finished, 0, 0, nil
	if cause != nil && !errors.Is(cause, ErrInterrupted) {
		s.State, s.Err = event.FailedState, cause.Error()
	}
	x.lab.snapshot.Store(s)
}

// save writes every member's policy into the run folder.
func (x *experiment) save() error {
	folder := x.journal.folder
	if folder == nil {
		return nil
	}
	for _, m := range x.members {
		name := run.PolicyName
		if len(x.members) > 1 {
			name = fmt.Sprintf("policy-%d.bin", m.Index)
		}
		err := folder.Save(name, func(w io.Writer) error { return policy.Save(w, m.Agent.SavePolicy) })
		if err != nil {
			return fmt.Errorf("save policy: %w", err)
		}
	}
	return folder.Sync()
}

// Close releases what the lab holds. Run calls it; callers need it only for a lab that never
// ran.
func (l *Lab) Close() {
	l.mu.Lock()
	was := l.ended
	l.ended = true
	l.mu.Unlock()
	if was {
		return
	}
	l.x.control.answerRest()
	l.x.close()
}

// abandon releases what a lab holds that was not completed. The folder is the caller's.
func (x *experiment) abandon() {
	x.journal.folder = nil
	x.close()
}

func (x *experiment) close() {
	x.checkpoints.close()
	for _, m := range x.members {
		m.Close()
	}
	if x.journal.folder != nil {
		x.journal.folder.Close()
	}
}

// Config returns the configuration that the run was made from.
func (l *Lab) Config() config.Config { return l.config }

// Snapshot returns the latest state. It is never nil and costs nothing.
func (l *Lab) Snapshot() *event.Snapshot { return l.snapshot.Load() }

// Events returns the events from index from on. The slice must not be changed.
func (l *Lab) Events(from int) []event.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	if from >= len(l.events) {
		return nil
	}
	return l.events[max(from, 0):len(l.events):len(l.events)]
}

// log appends an event and numbers it.
func (l *Lab) log(e event.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.Index = len(l.events)
	l.events = append(l.events, e)
}

// Fault says what happens to a run that meets a loss that is not a number, or a full disk.
type Fault int

// The choices of OnFault.
const (
	// FaultPause makes the run wait for someone to look at it.
	FaultPause Fault = iota
	// FaultFail ends the run: for runs that no one watches.
	FaultFail
)

// OnFault chooses what happens to the run, from the next fault on. The default is FaultPause. After
// FaultFail a run that a fault makes wait already ends at the next event.Detach.
func (l *Lab) OnFault(f Fault) { l.x.gate.onFault.Store(int32(f)) }

// Saving sets when checkpoints are taken. It must be called before Run. Restore takes its own
// Saving.
func (l *Lab) Saving(s Saving) {
	if k := &l.x.checkpoints; k.writer != nil {
		k.begin(k.writer, s)
	}
}

// Version names the program in the journal's first line. It must be called before Run.
func (l *Lab) Version(v string) { l.x.version = v }

// Prepare compiles what the run will use, so that a device with memory of its own allocates that
// memory before the run begins. It returns remarks on that for the user, or a
// *device.OutOfMemory. On the CPU, programs are compiled when they are first used. Prepare must
// be called before Run.
func (l *Lab) Prepare() (said []string, err error) {
	x := l.x
	for _, m := range x.members {
		if m.Agent.Prepare == nil {
			continue
		}
		size, fused := m.SourceSize(&x.Settings), x.first().Fused()
		uses := agent.Uses{Source: size, Copies: x.config.Environment.InLockstep(), Evaluated: x.config.Evaluation.Episodes, Probed: x.config.Evaluation.DormantStates}
		for _, samples := range []int{0, x.Settings.Samples} {
			uses.Mixes = append(uses.Mixes, x.config.Mix(&x.Settings, samples))
		}
		if err := m.Agent.Prepare(uses); err != nil {
			return nil, fmt.Errorf("prepare the agent: %w", err)
		}
		if fused && !x.first().Fused() && m.Index == 0 {
			said = append(said, fmt.Sprintf("batches are sampled by the host: there is no memory for %s transitions", knob.FormatCount(size.Real+size.Synthetic)))
		}
		g, ok := m.Generator.(interface {
			Prepare(generative.GenKnobs) (int, error)
		})
		if !ok {
			continue
		}
		chunk, err := g.Prepare(x.Settings.Generation())
		if err != nil {
			return nil, fmt.Errorf("prepare the generator: %w", err)
		}
		if full := x.config.Generator.Chunk; chunk < full && m.Index == 0 {
			said = append(said, fmt.Sprintf("chunks of %s transitions instead of %s: there is no memory for more", knob.FormatCount(chunk), knob.FormatCount(full)))
		}
	}
	return said, nil
}
