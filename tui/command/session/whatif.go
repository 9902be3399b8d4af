package session

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/offline"
	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/core/task"
	"pgrlab/core/whatif"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/pane"
	"pgrlab/tui/pane/system"
)

// How far a what-if gives way to the run: as far as possible. If Linux first divides
// processors among sessions (sched_autogroup), nice values count only within one. The what-if's
// session then has a tenth of the run's weight, so that the what-if finishes even beside a run that
// takes all cores.
const (
	whatIfNice    = 19
	whatIfSession = 10
)

// smallWhatIfs are the comparisons that a screen's what-if makes, the usual one first: real rows,
// unprioritized rows, and rows of the run's F, ω and k. They give an impression; pgrlab analyse
// --what-if makes more updates, rows and episodes.
func smallWhatIfs() []whatif.Plan {
	small := func(updates, episodes, repeats, samples int) whatif.Plan {
		p := whatif.Plan{Updates: updates, Episodes: episodes, Repeats: repeats}
		p.Sampling.Samples = samples
		return p
	}
	// Repeats go last: two of them have intervals in which little stands out.
	return []whatif.Plan{small(500, 5, 3, 2_000), small(250, 3, 3, 1_000), small(250, 3, 2, 1_000)}
}

// whatIfWait is how long a person waits for a what-if: where the usual one takes longer, a smaller
// one is made.
const whatIfWait = 2 * time.Minute

// coreEvery is the time over which the share of a core is taken.
const coreEvery = 4 * time.Second

// whatIfSender is the sender of the pause for a what-if, and of its end.
const whatIfSender = "what-if"

// whatIf is the what-if of a run, computed by a process of its own: its failure harms nothing else,
// and it ends with the run's process.
type whatIf struct {
	config config.Config
	task   task.Task
	dir    func() string        // the run folder, wherever it is now
	knobs  func() knob.Settings // of the run, at present
	speed  func() float64       // critic updates of the run in a second; 0: unknown
	send   func(event.Command) error
	begin  func(args ...string) *exec.Cmd
	spent  func(pid int) time.Duration // processor time of a process; negative: unknown

	mu    sync.Mutex
	state *pane.WhatIfState
	input io.Closer // of the process, which ends when it is closed; nil: there is no process
	pid   int
	timed time.Time     // when its share of a core was measured
	used  time.Duration // its processor time then

	followed sync.WaitGroup // counts goroutines that follow processes
}

// newWhatIf makes the what-if of a session.
func newWhatIf(s *session) *whatIf {
	return &whatIf{config: s.config, task: s.task, dir: func() string { return s.folder.Dir() }, begin: s.process, state: &pane.WhatIfState{},
		knobs: s.knobs, speed: s.speed, send: s.send, spent: system.TimeOf}
}

// send sends a command to the run.
func (s *session) send(c event.Command) error {
	if l := s.live.Load(); l != nil {
		return l.Send(c)
	}
	return event.ErrEnded
}

// speed is the run's TrainingSpeed; 0: unknown.
func (s *session) speed() float64 {
	if l := s.live.Load(); l != nil {
		return l.Snapshot().TrainingSpeed()
	}
	return 0
}

// knobs are the present values of the knobs.
func (s *session) knobs() knob.Settings {
	now := s.config.Knobs
	if l := s.live.Load(); l != nil {
		for name, v := range l.Snapshot().Knobs {
			_ = now.Set(name, v.String()) // the value comes from the same table
		}
	}
	return now
}

// Check says why this run cannot have a what-if with its knobs as they are, or returns nil.
func (w *whatIf) Check() error {
	now := w.config
	now.Knobs = w.knobs()
	return now.CheckWhatIf()
}

// Plan is the comparison that Begin would make now, with an estimate of its critic updates: the
// first that the run makes within whatIfWait, or else the smallest.
func (w *whatIf) Plan() (p whatif.Plan, updates, usual int) {
	now, speed := w.knobs(), w.speed()
	for i, plan := range smallWhatIfs() {
		var err error
		p = plan
		p.Guidance = []float64{now.Guidance}
		if updates, err = offline.WhatIfUpdates(&w.config, now, w.task, p); err != nil {
			return p, 0, 0 // the process will report it
		}
		if i == 0 {
			usual = updates
		}
		if speed <= 0 || float64(updates) <= speed*whatIfWait.Seconds() {
			break
		}
	}
	return p, updates, usual
}

// State is the state of the what-if.
func (w *whatIf) State() *pane.WhatIfState {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.measure(time.Now())
	return w.state
}

// measure takes the share of a core that the process has got, from time to time.
func (w *whatIf) measure(now time.Time) {
	passed := now.Sub(w.timed)
	if w.input == nil || passed < coreEvery {
		return
	}
	used := w.spent(w.pid)
	core := (used - w.used).Seconds() / passed.Seconds()
	if used < 0 || w.used < 0 {
		core = -1
	}
	w.timed, w.used = now, used
	w.change(func(s *pane.WhatIfState) { s.Core = core })
}

// Hold pauses the run until the what-if is over.
func (w *whatIf) Hold() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.input == nil {
		return errors.New("no what-if is under way: enter begins one")
	}
	if err := w.send(event.Pause{By: whatIfSender, Passing: true}); err != nil {
		return err
	}
	w.change(func(s *pane.WhatIfState) { s.Held = true })
	return nil
}

// release ends the pause for a what-if that is over, unless another one has taken its place.
func (w *whatIf) release() {
	if w.state.Held {
		for errors.Is(w.send(event.Resume{By: whatIfSender, Of: whatIfSender}), event.ErrBusy) { // a run that has ended needs none
			time.Sleep(10 * time.Millisecond)
		}
	}
	w.change(func(s *pane.WhatIfState) { s.Under, s.Held = false, false })
}

// change replaces the present state by a changed copy.
func (w *whatIf) change(how func(s *pane.WhatIfState)) {
	next := *w.state
	how(&next)
	w.state = &next
}

// Begin starts the process with the run's last checkpoint, unless a process is running.
func (w *whatIf) Begin() {
	at, err := w.checkpoint()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state.Under {
		return
	}
	if err == nil {
		err = w.start(at)
	}
	if err != nil {
		w.change(func(s *pane.WhatIfState) { s.Err = fmt.Errorf("what-if: %w", err) })
	}
}

// start starts the process with the checkpoint of a step.
func (w *whatIf) start(at int) error {
	if own, free := system.Resident(), system.FreeMemory(); own > 0 && free >= 0 && own > free {
		return errors.New("it needs about as much memory as the run, and the machine has not: end another program first")
	}
	command := w.command(at)
	said, input, err := pipes(command)
	if err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	var table bytes.Buffer
	command.Stdout = &table
	if err := cli.StartNice(command, whatIfNice); err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	// This helps if the file exists.
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", command.Process.Pid), []byte(strconv.Itoa(whatIfSession)), 0)
	w.input, w.pid, w.timed, w.used = input, command.Process.Pid, time.Now(), 0
	w.change(func(s *pane.WhatIfState) {
		s.Under, s.Step, s.Begun, s.Progress, s.Err, s.Core = true, at, time.Time{}, whatif.Progress{}, nil, -1
	})
	w.followed.Go(func() { w.follow(command, input, said, &table) })
	return nil
}

// checkpoint is the step of the run's last checkpoint.
func (w *whatIf) checkpoint() (step int, err error) {
	found, err := run.Checkpoints(w.dir())
	if err != nil {
		return 0, err
	}
	for _, c := range found {
		if c.Err == nil {
			return c.Step, nil
		}
	}
	return 0, fmt.Errorf("%s has no checkpoint that can be read: save the run with c first", w.dir())
}

// command is the process for the checkpoint of a step.
func (w *whatIf) command(step int) *exec.Cmd {
	p, _, _ := w.Plan()
	return w.begin("analyse", fmt.Sprintf("%s@%d", w.dir(), step), "--what-if", "--json", "--until-eof", "--threads", "1",
		"--guidance", strconv.FormatFloat(p.Guidance[0], 'g', -1, 64), "--updates", strconv.Itoa(p.Updates), "--seeds", strconv.Itoa(p.Repeats),
		"--samples", strconv.Itoa(p.Sampling.Samples), "--episodes", strconv.Itoa(p.Episodes))
}

// pipes are the output of a process, and the input that keeps it going.
func pipes(c *exec.Cmd) (said io.Reader, input io.Closer, err error) {
	if said, err = c.StderrPipe(); err == nil {
		input, err = c.StdinPipe()
	}
	return said, input, err
}

// follow reads the output of a process until it has ended, and takes its result.
func (w *whatIf) follow(c *exec.Cmd, input io.Closer, said io.Reader, table *bytes.Buffer) {
	last := ""
	for lines := bufio.NewScanner(said); lines.Scan(); {
		var at whatif.Progress
		if json.Unmarshal(lines.Bytes(), &at) != nil {
			last = lines.Text()
			continue
		}
		w.received(input, at)
	}
	err := c.Wait()
	var found whatif.Table
	if err == nil {
		err = json.Unmarshal(table.Bytes(), &found)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.input != input {
		return // the process was stopped
	}
	w.input = nil
	w.release()
	w.change(func(s *pane.WhatIfState) {
		switch said := strings.TrimPrefix(last, "pgrlab: "); {
		case err == nil:
			s.Table, s.Of = &found, s.Step
		case said != "":
			s.Err = errors.New(said)
		default:
			s.Err = fmt.Errorf("what-if: its process ended: %w", err)
		}
	})
}

// received takes the progress of the process with the given input.
func (w *whatIf) received(input io.Closer, at whatif.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.input != input {
		return
	}
	w.change(func(s *pane.WhatIfState) {
		if s.Begun.IsZero() {
			s.Begun = time.Now()
		}
		s.Progress = at
	})
}

// Stop ends the current process.
func (w *whatIf) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.input == nil {
		return
	}
	w.input.Close() // the process ends after its current piece of work
	w.input = nil
	w.release()
}

// end stops the what-if with the run's process; it says so if there was one.
func (w *whatIf) end() (said []string) {
	if w.State().Under {
		w.Stop()
		said = append(said, fmt.Sprintf("the what-if under way has ended with this process: pgrlab analyse %s --what-if makes another", shell.Word(rundir.Near(w.dir()))))
	}
	return said
}
