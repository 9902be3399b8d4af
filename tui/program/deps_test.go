package program

import (
	"errors"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/task"
	"pgrlab/core/testing/pace"
	"pgrlab/envs"
	"pgrlab/envs/maze"
	"pgrlab/tui/command/cli"
)

// failVariable makes a process that takes over a run find no device, after the order to
// begin.
const failVariable = "PGRLAB_TEST_NO_DEVICE"

var errNoDevice = errors.New("the device is gone")

// testDeps are the real parts. Units of work run at the pace that a test was asked for, and
// training waits where the test that started this process asks it to.
func testDeps() cli.Deps {
	d := deps(newPrograms())
	if setting := os.Getenv(holdVariable); setting != "" {
		d.Tasks = heldTasks(d.Tasks, setting)
	}
	if os.Getenv(failVariable) != "" && slices.Contains(os.Args, "--handover") {
		d.Device = func(cli.DeviceRequest) (cli.Device, error) { return nil, errNoDevice }
	}
	if hasNoEnd(os.Args) {
		d.Tasks = resting(d.Tasks)
	}
	if os.Getenv(pace.Variable) == "" {
		return d
	}
	d.Tasks = withSteps(d.Tasks, func(uint64, int) { pace.Unit() })
	start := d.Device
	d.Device = func(r cli.DeviceRequest) (cli.Device, error) {
		made, err := start(r)
		if c, ok := made.(*cpu.Device); ok {
			made = paced{c}
		}
		return made, err
	}
	return d
}

// hasNoEnd says whether a command line begins a run without an end, or takes one over.
func hasNoEnd(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool { return arg == "1_000_000" || arg == "10000000" || arg == "--handover" })
}

// resting returns tasks in which a run rests at each env step once it has made more of them than the
// runs with an end, for three times as long as it worked since: what a test looks at is beside such a
// run, which would use a whole processor. Runs in mazes, which make steps in many copies, never rest,
// nor does anything in the long forms or where work has a pace.
func resting(tasks []task.Task) []task.Task {
	if os.Getenv(pace.Variable) != "" || soaking() {
		return tasks
	}
	for i, t := range tasks {
		if !t.Discrete {
			var rested atomic.Int64 // when; in nanoseconds
			tasks[i] = withStepsOf(t, func(_ uint64, n int) {
				if n > 320 {
					worked := time.Duration(time.Now().UnixNano() - rested.Load())
					time.Sleep(min(max(5*time.Millisecond, 3*worked), 100*time.Millisecond))
				}
				rested.Store(time.Now().UnixNano())
			})
		}
	}
	return tasks
}

// withSteps returns tasks whose training environments call before ahead of each step, with their
// seed and a number counted from 1.
func withSteps(tasks []task.Task, before func(seed uint64, n int)) []task.Task {
	for i, t := range tasks {
		tasks[i] = withStepsOf(t, before)
	}
	return tasks
}

func withStepsOf(t task.Task, before func(seed uint64, n int)) task.Task {
	begin, with := t.New, t.With
	t.New = func(seed uint64) (task.Env, error) {
		e, err := begin(seed)
		if err != nil {
			return nil, err
		}
		count := counted{before: func(n int) { before(seed, n) }}
		if m, is := e.(mazeEnvironment); is {
			return &steppedMaze{mazeEnvironment: m, counted: count}, nil
		}
		return &stepped{environment: e.(environment), counted: count}, nil
	}
	t.With = func(e task.Environment) (task.Task, error) {
		played, err := with(e)
		return withStepsOf(played, before), err
	}
	return t
}

// environment has all methods that an environment can have, except in a maze.
type environment interface {
	task.Env
	task.Posed
	task.Seen
	Place(obs []float32) error
	Observation(obs []float32)
}

// mazeEnvironment has all methods of an environment in a maze.
type mazeEnvironment interface {
	task.Env
	task.Posed
	task.Seen
	task.Placed
	task.Respawning
	task.Explored
	task.Televised
}

var (
	_ environment     = (*envs.Env)(nil)
	_ mazeEnvironment = (*maze.Env)(nil)
)

// counted calls a function before each step.
type counted struct {
	before func(n int)
	n      int
}

func (c *counted) count() {
	c.n++
	c.before(c.n)
}

// stepped is an environment that counts its steps.
type stepped struct {
	environment
	counted
}

func (e *stepped) Step(action, obs []float32) (float64, bool, bool, error) {
	e.count()
	return e.environment.Step(action, obs)
}

// steppedMaze is a maze that does.
type steppedMaze struct {
	mazeEnvironment
	counted
}

func (e *steppedMaze) Step(action, obs []float32) (float64, bool, bool, error) {
	e.count()
	return e.mazeEnvironment.Step(action, obs)
}

// paced is a device whose programs count as units of work.
type paced struct{ *cpu.Device }

func (d paced) Compile(p *device.Program) (device.Executable, error) {
	e, err := d.Device.Compile(p)
	return pacedProgram{e}, err
}

type pacedProgram struct{ device.Executable }

func (p pacedProgram) Run(occasion uint64) error {
	pace.Unit()
	return p.Executable.Run(occasion)
}
