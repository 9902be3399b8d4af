package command

import (
	"time"

	"github.com/spf13/cobra"

	"pgrlab/core/lab"
)

// runFlags are the flags of a run, as given: the screen and train share them.
type runFlags struct {
	preset, task, method, scale string
	seed                        uint64
	steps                       int
	environment                 lab.Environment
	device, precision, gpuMem   string
	threads                     int
	set, at                     []string
	out                         string
	schedule                    string
	resume                      string
	dropTail                    bool
	every                       time.Duration
	disk                        string
	lean                        bool

	changed func(name string) bool // whether a flag was given

	place place // where it computes, once settled
}

// deviceUsage is the help of --device.
const deviceUsage = "compute on `cpu|auto|cuda…`: cuda[:INDEX] or GPU-UUID is a GPU; auto is one that is free, else the CPU"

func (r *runFlags) bind(c *cobra.Command) {
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&r.preset, "preset", "", "start from preset `NAME|FILE` (pgrlab list presets)")
	f.StringVar(&r.task, "task", "", "task `T` (pgrlab list tasks)")
	f.StringVar(&r.method, "method", "", "method `M` (pgrlab list methods)")
	f.StringVar(&r.scale, "scale", "", "how much of everything: scale `S` (pgrlab list scales)")
	f.StringArrayVar(&r.set, "set", nil, "start with a knob turned: `KNOB=VALUE`, repeatable (pgrlab list knobs)")
	f.StringArrayVar(&r.at, "at", nil, "turn a knob later: `STEP:KNOB=VALUE`, repeatable; KNOB=VALUE! redoes at once what depends on it")
	f.StringVar(&r.schedule, "schedule", "", "turn the knobs as in another run: `DIR|EVENTS.JSONL`")
	setGroup(f, groups[0], "preset", "task", "method", "scale", "set", "at", "schedule")
	f.Uint64Var(&r.seed, "seed", 0, "seed `N`: the same seed gives the same run")
	f.IntVar(&r.steps, "steps", 0, "environment steps `N` (default: the scale's)")
	f.IntVar(&r.environment.ActionRepeat, "action-repeat", 1, "control steps `N` that one env step makes with its action")
	f.Float64Var(&r.environment.NoiseShare, "noise-share", 0, "share `P` of the training observations that get Gaussian noise, 0 to 1")
	f.Float64SliceVar(&r.environment.NoiseSigma, "noise-sigma", nil, "its standard deviation `S[,S…]`: one, or one for each coordinate")
	f.StringVar(&r.device, "device", "auto", deviceUsage)
	f.StringVar(&r.precision, "precision", "", "what a GPU rounds large products to: `P` is fp32, tf32 or bf16 (default tf32)")
	f.StringVar(&r.gpuMem, "gpu-mem", "", "most of a GPU's memory to use: `SIZE`, as 4GiB (default what is free)")
	f.IntVar(&r.threads, "threads", 0, "threads `N`, of which two compute; does not change the results (default: all allowed, at most 8)")
	setGroup(f, groups[1], "seed", "steps", "action-repeat", "noise-share", "noise-sigma", "device", "precision", "gpu-mem", "threads")
	f.StringVar(&r.out, "out", "", "run folder `DIR` (default $PGRLAB_RUNS/…, else ./runs/DATE-TASK-METHOD-sSEED)")
	f.StringVar(&r.resume, "resume", "", "go on with the run in `DIR|latest` where it was saved last; DIR@STEP: last up to STEP")
	f.BoolVar(&r.dropTail, "drop-tail", false, "with --resume: forget the changes and notes that were made after that")
	f.DurationVar(&r.every, "checkpoint-every", 0, "least `TIME` between checkpoints (default 5m)")
	f.StringVar(&r.disk, "disk", "", "most that the run's checkpoints may take: `SIZE` (default a tenth of what is free)")
	f.BoolVar(&r.lean, "lean", false, "save of D_syn only how it was made: small checkpoints, and a resume makes it again")
	setGroup(f, groups[2], "out", "resume", "drop-tail", "checkpoint-every", "disk", "lean")
	r.changed = f.Changed
}
