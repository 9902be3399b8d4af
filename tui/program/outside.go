package program

import (
	"context"
	"fmt"
	"sync"
	"time"

	"pgrlab/core/task"
	"pgrlab/envs/outside"
	"pgrlab/tui"
	"pgrlab/tui/command/cli"
)

// programs are the programs that simulate tasks. Those that are found keep their processes until Close.
type programs struct {
	allowed func() *outside.Allowed // the user's list

	mu   sync.Mutex
	open map[string]*outside.Program
}

func newPrograms() *programs {
	return &programs{allowed: sync.OnceValue(func() *outside.Allowed { return outside.NewAllowed(tui.Home()) }), open: map[string]*outside.Program{}}
}

// Adapter is the Python file of cli.Programs.
func (*programs) Adapter() []byte { return outside.Adapter }

// Simulates says whether a program simulates a task.
func (*programs) Simulates(name string) bool { return outside.IsName(name) }

// NameOf is the name of the task that a command simulates.
func (*programs) NameOf(command string) string { return outside.NameOf(command) }

// Open finds the program of a task. The same task with the same options has one program.
func (s *programs) Open(name string, o task.Outside) (cli.Program, error) {
	spec := o.Spec
	o.Spec = task.Spec{}
	var err error
	if o.Python, err = outside.Interpreter(name, o.Python); err != nil {
		return nil, fmt.Errorf("find the program of %s: %w", name, err)
	}
	started := o
	started.Ends = "" // it is no setting of the program
	key := fmt.Sprintf("%q %+v", name, started)
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.open[key]
	if p == nil {
		p, err = outside.Open(name, outside.Options{
			Args: o.Args, Folder: o.Folder, Python: o.Python, ActBound: o.ActBound, EpisodeSteps: o.EpisodeSteps,
			Timeout: time.Duration(o.Timeout) * time.Second, Processes: o.Processes, Pictures: o.Pictures,
		}, version(), s.check)
		if err != nil {
			return nil, err
		}
		s.open[key] = p
	}
	opened := program{p, o.Python, o.Ends, s.allowed}
	if known := (task.Outside{Spec: spec}); known.Met() {
		p.Expect(outside.Spec(spec))
		if _, err := opened.rule(); err != nil {
			return nil, err
		}
	}
	return opened, nil
}

// check says whether a command may be started.
func (s *programs) check(c outside.Command) error {
	allowed, err := s.allowed().Has(c)
	if err == nil && !allowed {
		err = fmt.Errorf("%s is not among the commands that you have allowed, or its file has changed since: pgrlab env allow allows it", c)
	}
	return err
}

// Rest ends the processes that nothing uses.
func (s *programs) Rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.open {
		p.Rest()
	}
}

// Kill ends all processes at once.
func (*programs) Kill() { outside.KillAll() }

// Close ends all processes.
func (s *programs) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.open {
		p.Close()
	}
}

// program is one of them.
type program struct {
	*outside.Program
	python  string
	ends    string // task.Outside.Ends
	allowed func() *outside.Allowed
}

// Command is the command and its folder.
func (p program) Command() (command, folder string) {
	return p.Program.Command.String(), p.Program.Command.Dir
}

// Python is the interpreter that was found.
func (p program) Python() string { return p.python }

// Allowed says whether the command is in the user's list.
func (p program) Allowed() (bool, error) { return p.allowed().Has(p.Program.Command) }

// Allow puts it there.
func (p program) Allow() error { return p.allowed().Add(p.Program.Command) }

// Meet starts the program and returns what it says of itself.
func (p program) Meet() (task.Spec, error) {
	spec, _, err := p.Program.Meet()
	if err == nil {
		_, err = p.rule()
	}
	return task.Spec(spec), err
}

// rule is where episodes of the task end; the program must have been met.
func (p program) rule() (endRule, error) {
	t := p.Program.Task()
	return newEnds(p.ends, t.ObsSize, t.ActSize, t.Names)
}

// Check plays the environment.
func (p program) Check(ctx context.Context) ([]cli.Finding, error) {
	found, err := p.Program.Check(ctx)
	all := make([]cli.Finding, len(found))
	for i, f := range found {
		all[i] = cli.Finding(f)
	}
	return all, err
}

// Task is what the program simulates.
func (p program) Task() task.Task {
	rule, err := p.rule()
	if err != nil {
		rule = nil // it was read when the program was met
	}
	t := p.Program.Task()
	if p.ends != "" {
		t.Terminates = p.ends != task.NeverEnds
	}
	return outsideOf(t, rule)
}

// unknownState is what an observation of another program does not have.
const unknownState = "another program simulates it"

func outsideOf(t *outside.Task, rule endRule) task.Task {
	return task.Task{
		Name: t.Name, Doc: unknownState, ObsSize: t.ObsSize, ActSize: t.ActSize, Discrete: t.Choices > 0,
		EpisodeSteps: t.EpisodeSteps, Terminates: t.Terminates, Ends: rule, Hidden: unknownState, Names: t.Names,
		New:     func(seed uint64) (task.Env, error) { return t.New(seed) },
		NewVec:  func(n int, seed uint64) (task.VecEnv, error) { return t.NewVec(n, seed) },
		Program: func() any { return t.Started() },
		With: func(e task.Environment) (task.Task, error) {
			if e.CellBonus != 0 {
				return task.Task{}, fmt.Errorf("%s: environment.cell_bonus is %g, but there is no maze whose places could be counted: leave it out", t.Name, e.CellBonus)
			}
			played, err := t.With(e.ActionRepeat)
			if err != nil {
				return task.Task{}, err
			}
			return outsideOf(played, rule), nil
		},
	}
}
