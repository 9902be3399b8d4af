package runflags

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"pgrlab/core/task"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/machine"
)

// Flags are the values of a run's flags: the screen and train share them.
type Flags struct {
	Preset, Task, Method, Scale string
	Command                     string       // simulates the task, in place of Task
	Outside                     task.Outside // how the program of a task is started
	Seed                        uint64
	Steps, members              int
	Environment                 task.Environment
	Device, precision, GPUMem   string
	Threads                     int
	Set, At                     []string
	Data                        Data     // recorded, that the run begins with
	Vary                        []string // the values of a sweep's --vary that this run has, each as KEY=VALUE
	Out                         string
	schedule                    string
	Resume                      string
	DropTail                    bool
	Every                       time.Duration
	Disk                        string
	Lean                        bool

	Recorded *task.Spec // what recorded transitions are of, for a run on them alone; nil: it steps an environment

	ask     func(question string) bool // asks the person at the keyboard; nil: no one is there
	Changed func(name string) bool     // whether a flag was given
	Stderr  func() io.Writer           // for messages before the run exists; nil: there are none

	Place machine.Place // where the run computes, once settled
}

// Bind adds the flags to a command.
func (r *Flags) Bind(c *cobra.Command) {
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&r.Preset, "preset", "", "`NAME|FILE` preset to start from (pgrlab list presets)")
	f.StringVar(&r.Task, "task", "", "`T` task to learn (pgrlab list tasks), or a task file, such as ./pole.toml; gym:ID is one of Gymnasium, dm:DOMAIN-TASK of dm_control")
	f.StringVar(&r.Command, "env", "", "`COMMAND` program that simulates the task, in quotes: 'python3 my_env.py' (pgrlab help env-adapter)")
	f.StringVar(&r.Method, "method", "", "`M` method to learn it with (pgrlab list methods)")
	f.StringVar(&r.Scale, "scale", "", "`S` scale: the sizes of everything in a run (pgrlab list scales; default: the preset's, else demo)")
	f.StringArrayVar(&r.Set, "set", nil, SetUsage)
	f.StringArrayVar(&r.At, "at", nil, "`STEP:KNOB=VALUE` turn a knob after that step; repeatable; VALUE! redoes at once what depends on the knob")
	f.StringVar(&r.schedule, "schedule", "", "`DIR|FILE` turn the knobs as in the journal of another run")
	r.Data.Bind(f)
	cli.SetGroup(f, cli.WhatToRun, "preset", "task", "env", "method", "scale", "set", "at", "schedule")
	cli.SetGroup(f, cli.OfData, OfData...)
	f.Uint64Var(&r.Seed, "seed", 0, "`N` seed: the same seed gives the same run (default 0)")
	cli.CountIn(f, &r.members, "members", 1, 1, 1000, "`K` agents to train in lockstep, with seeds N, N+1, …; every change applies to all of them")
	cli.CountIn(f, &r.Steps, "steps", 0, 1, cli.MaxSteps, "`N` environment steps, such as 20000, 20k or 1.5M (default: the scale's); with --resume: a larger number")
	f.StringVar(&r.Environment.Observation, "observation", "", "`state|pixels` what the agent observes of the task; rgb64 is pixels with frames of 64×64, rays a maze's state (default: what the method takes)")
	cli.CountVar(f, &r.Environment.ActionRepeat, "action-repeat", 1, 1, "`N` control steps that one env step makes with the same action (default: the preset's; 1 from states)")
	f.StringVar(&r.Environment.TV, "tv", "", cli.TVUsage)
	outside := cli.BindOutside(f, &r.Outside)
	f.StringVar(&r.Device, "device", "auto", cli.DeviceUsage)
	f.StringVar(&r.precision, "precision", "", "`fp32|tf32|bf16` precision to which a GPU rounds the factors of large products (default tf32)")
	f.StringVar(&r.GPUMem, "gpu-mem", "", "`SIZE` most GPU memory to use, such as 4GiB (default what is free)")
	cli.CountIn(f, &r.Threads, "threads", 0, 1, cli.MaxThreads, cli.ThreadsUsage)
	cli.SetGroup(f, cli.HowToRun, "seed", "members", "steps", "observation", "action-repeat", "tv", "device", "precision", "gpu-mem", "threads")
	cli.SetGroup(f, cli.OfPrograms, outside...)
	f.StringVar(&r.Out, "out", "", "`DIR` run folder (default $PGRLAB_RUNS/…, else ./runs/DATE-TASK-METHOD-sSEED)")
	f.StringVar(&r.Resume, "resume", "", "`DIR|latest` continue a run from its last checkpoint; DIR@STEP: from the last one up to that step")
	f.BoolVar(&r.DropTail, "drop-tail", false, "with --resume: forget the changes and notes that were made after the checkpoint")
	f.DurationVar(&r.Every, "checkpoint-every", 0, "`TIME` least time between checkpoints (default 5m)")
	f.StringVar(&r.Disk, "disk", "", "`SIZE` most disk space for the run's checkpoints, such as 5GiB (default a tenth of what is free)")
	f.BoolVar(&r.Lean, "lean", false, "save only how D_syn was made, not D_syn itself: checkpoints are small, and a resume generates D_syn again")
	cli.SetGroup(f, cli.WhereToKeep, "out", "resume", "drop-tail", "checkpoint-every", "disk", "lean")
	r.Changed, r.Stderr = f.Changed, c.ErrOrStderr
	r.ask = func(question string) bool {
		ask := cli.Asker(c.InOrStdin(), c.ErrOrStderr())
		return ask != nil && ask(question)
	}
}
