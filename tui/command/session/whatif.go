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

// How far a what-if stands back behind the run: as far as possible. If Linux first divides
// processors among sessions (sched_autogroup), nice values count only within one. The what-if's
// session then has a tenth of the run's weight, so that the what-if finishes even beside a run that
// takes all cores.
const (
	whatIfNice    = 19
	whatIfSession = 10
)

// smallWhatIf is the comparison that a screen's what-if makes: real rows, unprioritized rows, and
// rows of the run's F, ω and k. It gives an impression; pgrlab analyse --what-if makes more
// updates, rows and episodes.
func smallWhatIf() whatif.Plan {
	p := whatif.Plan{Updates: 500, Episodes: 5, Repeats: 3}
	p.Sampling.Samples = 2_000
	return p
}

// whatIf is the what-if of a run, computed by a process of its own: its failure harms nothing else,
// and it ends with the run's process.
type whatIf struct {
	config config.Config
	task   task.Task
	dir    func() string        // the run folder, wherever it is now
	knobs  func() knob.Settings // of the run, at present
	begin  func(args ...string) *exec.Cmd

	mu    sync.Mutex
	state *pane.WhatIfState
	input io.Closer // of the process, which ends when it is closed; nil: there is no process

	followed sync.WaitGroup // counts goroutines that follow processes
}

// newWhatIf makes the what-if of a session.
func newWhatIf(s *session) *whatIf {
	return &whatIf{config: s.config, task: s.task, dir: func() string { return s.folder.Dir() }, begin: s.process, state: &pane.WhatIfState{}, knobs: s.knobs}
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

// Plan is the comparison that Begin would make now, with an estimate of its critic updates.
func (w *whatIf) Plan() (whatif.Plan, int) {
	now := w.knobs()
	p := smallWhatIf()
	p.Guidance = []float64{now.Guidance}
	updates, err := offline.WhatIfUpdates(&w.config, now, w.task, p)
	if err != nil {
		return p, 0 // the process will report it
	}
	return p, updates
}

// State is the state of the what-if.
func (w *whatIf) State() *pane.WhatIfState {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
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
	if err := cli.StartBehind(command, whatIfNice); err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	// This helps if the file exists.
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", command.Process.Pid), []byte(strconv.Itoa(whatIfSession)), 0)
	w.input = input
	w.change(func(s *pane.WhatIfState) {
		s.Under, s.Step, s.Begun, s.Progress, s.Err = true, at, time.Time{}, whatif.Progress{}, nil
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
	p, _ := w.Plan()
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
		w.heard(input, at)
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
	w.change(func(s *pane.WhatIfState) {
		s.Under = false
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

// heard takes the progress of the process with the given input.
func (w *whatIf) heard(input io.Closer, at whatif.Progress) {
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
	w.change(func(s *pane.WhatIfState) { s.Under = false })
}

// end stops the what-if with the run's process; it says so if there was one.
func (w *whatIf) end() (said []string) {
	if w.State().Under {
		w.Stop()
		said = append(said, fmt.Sprintf("the what-if under way has ended with this process: pgrlab analyse %s --what-if makes another", shell.Word(rundir.Near(w.dir()))))
	}
	return said
}
