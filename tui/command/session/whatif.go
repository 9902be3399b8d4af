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
	"pgrlab/core/task"
	"pgrlab/core/whatif"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/pane"
	"pgrlab/tui/pane/system"
)

// How much a what-if stands back behind the run: as far as it goes. Where Linux shares
// processors among sessions first (sched_autogroup), nice values count within one only; its
// session then has a tenth of the run's weight, so that it ends beside a run that takes all
// cores, too.
const (
	whatIfNice    = 19
	whatIfSession = 10
)

// smallWhatIf is what a screen's what-if compares: real rows, unprioritized ones, and those
// of the run's F, ω and k. It is a look; pgrlab analyse --what-if has more of everything.
func smallWhatIf() whatif.Plan {
	p := whatif.Plan{Updates: 500, Episodes: 5, Repeats: 3}
	p.Sampling.Samples = 2_000
	return p
}

// whatIf is the what-if of a run, computed by a process of its own: it takes nothing with
// it where it fails, and it ends with the process of the run.
type whatIf struct {
	config config.Config
	task   task.Task
	dir    string
	knobs  func() knob.Settings // of the run, now
	begin  func(args ...string) *exec.Cmd

	mu    sync.Mutex
	state *pane.WhatIfState
	input io.Closer // of the process, which ends with it; nil: there is none

	followed sync.WaitGroup // of goroutines that follow processes
}

// newWhatIf makes that of a session.
func newWhatIf(s *session) *whatIf {
	return &whatIf{config: s.config, task: s.task, dir: s.folder.Dir(), begin: s.process, state: &pane.WhatIfState{}, knobs: s.knobs}
}

// knobs are the values that hold now.
func (s *session) knobs() knob.Settings {
	now := s.config.Knobs
	if l := s.live.Load(); l != nil {
		for name, v := range l.Snapshot().Knobs {
			_ = now.Set(name, v.String()) // it is of the same table
		}
	}
	return now
}

// Check says why there is none of this run, or returns nil.
func (w *whatIf) Check() error { return w.config.CheckWhatIf() }

// Plan is what one would compare now, and about how many critic updates that takes.
func (w *whatIf) Plan() (whatif.Plan, int) {
	now := w.knobs()
	p := smallWhatIf()
	p.Guidance = []float64{now.Guidance}
	updates, err := offline.WhatIfUpdates(&w.config, now, w.task, p)
	if err != nil {
		return p, 0 // the process will say it
	}
	return p, updates
}

// State is where it stands.
func (w *whatIf) State() *pane.WhatIfState {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

// change puts another state in the place of the present one.
func (w *whatIf) change(how func(s *pane.WhatIfState)) {
	next := *w.state
	how(&next)
	w.state = &next
}

// Begin starts the process, with the run's last checkpoint, unless there is one.
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

// start starts the process, with the checkpoint of a step.
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
	// It helps where there is such a file.
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", command.Process.Pid), []byte(strconv.Itoa(whatIfSession)), 0)
	w.input = input
	w.change(func(s *pane.WhatIfState) {
		s.Under, s.Step, s.Begun, s.Progress, s.Err = true, at, time.Time{}, whatif.Progress{}, nil
	})
	w.followed.Go(func() { w.follow(command, input, said, &table) })
	return nil
}

// checkpoint is the step of the run's last one.
func (w *whatIf) checkpoint() (step int, err error) {
	found, err := run.Checkpoints(w.dir)
	if err != nil {
		return 0, err
	}
	for _, c := range found {
		if c.Err == nil {
			return c.Step, nil
		}
	}
	return 0, fmt.Errorf("%s has no checkpoint that can be read: save the run with c first", w.dir)
}

// command is the process for a checkpoint.
func (w *whatIf) command(step int) *exec.Cmd {
	p, _ := w.Plan()
	return w.begin("analyse", fmt.Sprintf("%s@%d", w.dir, step), "--what-if", "--json", "--until-eof", "--threads", "1",
		"--guidance", strconv.FormatFloat(p.Guidance[0], 'g', -1, 64), "--updates", strconv.Itoa(p.Updates), "--seeds", strconv.Itoa(p.Repeats),
		"--samples", strconv.Itoa(p.Sampling.Samples), "--episodes", strconv.Itoa(p.Episodes))
}

// pipes are what a process says, and what holds it.
func pipes(c *exec.Cmd) (said io.Reader, input io.Closer, err error) {
	if said, err = c.StderrPipe(); err == nil {
		input, err = c.StdinPipe()
	}
	return said, input, err
}

// follow hears what a process says until it has ended, and takes what it found.
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
		return // it was stopped
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

// heard takes how far the process with an input is.
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

// Stop ends the one under way.
func (w *whatIf) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.input == nil {
		return
	}
	w.input.Close() // the process ends at its next piece of work
	w.input = nil
	w.change(func(s *pane.WhatIfState) { s.Under = false })
}

// end stops it with the process of the run; it says so where there was one.
func (w *whatIf) end() (said []string) {
	if w.State().Under {
		w.Stop()
		said = append(said, fmt.Sprintf("the what-if under way has ended with this process: pgrlab analyse %s --what-if makes another", rundir.Near(w.dir)))
	}
	return said
}
