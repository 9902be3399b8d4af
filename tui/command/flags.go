package command

import (
	"io"
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
	stderr  func() io.Writer       // for what is said before a run is there; nil: nothing is

	place place // where it computes, once settled
	heir  *heir // who is given the run folder of --resume by another process; nil: none is
}

// deviceUsage is the help of --device.
const deviceUsage = "`cpu|auto|cuda…` where to compute: cuda, cuda:INDEX or GPU-UUID is a GPU; auto a free GPU, else the CPU"

// maxSteps is more than any run makes.
const maxSteps = 1_000_000_000

// maxThreads is what a device takes, and threadsUsage the help of --threads.
const (
	maxThreads   = 8
	threadsUsage = "`N` threads to use, of which two train; the results stay the same (default: all allowed, at most 8)"
)

func (r *runFlags) bind(c *cobra.Command) {
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&r.preset, "preset", "", "`NAME|FILE` preset to start from (pgrlab list presets)")
	f.StringVar(&r.task, "task", "", "`T` task to learn (pgrlab list tasks)")
	f.StringVar(&r.method, "method", "", "`M` method to learn it with (pgrlab list methods)")
	f.StringVar(&r.scale, "scale", "", "`S` scale: how much of everything (pgrlab list scales)")
	f.StringArrayVar(&r.set, "set", nil, "`KNOB=VALUE` start with a knob turned, by its name or symbol; repeatable (pgrlab list knobs)")
	f.StringArrayVar(&r.at, "at", nil, "`STEP:KNOB=VALUE` turn a knob after that step; repeatable; VALUE! redoes at once what depends on the knob")
	f.StringVar(&r.schedule, "schedule", "", "`DIR|FILE` turn the knobs as in the journal of another run")
	setGroup(f, groups[0], "preset", "task", "method", "scale", "set", "at", "schedule")
	f.Uint64Var(&r.seed, "seed", 0, "`N` seed: the same seed gives the same run")
	countIn(f, &r.steps, "steps", 0, 1, maxSteps, "`N` environment steps, as 20000, 20k or 1.5M (default: the scale's); with --resume: more of them")
	countVar(f, &r.environment.ActionRepeat, "action-repeat", 1, 1, "`N` control steps that one env step makes with its action")
	f.Float64Var(&r.environment.NoiseShare, "noise-share", 0, "`P` share of the training observations that get Gaussian noise, 0 to 1")
	f.Float64SliceVar(&r.environment.NoiseSigma, "noise-sigma", nil, "`S[,S…]` its standard deviation: one, or one for each coordinate")
	f.StringVar(&r.device, "device", "auto", deviceUsage)
	f.StringVar(&r.precision, "precision", "", "`fp32|tf32|bf16` what a GPU rounds the factors of large products to (default tf32)")
	f.StringVar(&r.gpuMem, "gpu-mem", "", "`SIZE` most of a GPU's memory to use, as 4GiB (default what is free)")
	countIn(f, &r.threads, "threads", 0, 0, maxThreads, threadsUsage)
	setGroup(f, groups[1], "seed", "steps", "action-repeat", "noise-share", "noise-sigma", "device", "precision", "gpu-mem", "threads")
	f.StringVar(&r.out, "out", "", "`DIR` run folder (default $PGRLAB_RUNS/…, else ./runs/DATE-TASK-METHOD-sSEED)")
	f.StringVar(&r.resume, "resume", "", "`DIR|latest` go on with a run where it was saved last; DIR@STEP: where it was saved last up to that step")
	f.BoolVar(&r.dropTail, "drop-tail", false, "with --resume: forget the changes and notes that were made after that")
	f.DurationVar(&r.every, "checkpoint-every", 0, "`TIME` least time between checkpoints (default 5m)")
	f.StringVar(&r.disk, "disk", "", "`SIZE` most that the run's checkpoints may take, as 5GiB (default a tenth of what is free)")
	f.BoolVar(&r.lean, "lean", false, "save only how D_syn was made, not D_syn: small checkpoints, and a resume generates it again")
	setGroup(f, groups[2], "out", "resume", "drop-tail", "checkpoint-every", "disk", "lean")
	r.changed, r.stderr = f.Changed, c.ErrOrStderr
}
