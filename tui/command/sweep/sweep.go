package sweep

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"pgrlab/core/config"
	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/core/sweep"
	"pgrlab/core/sweep/ssh"
	"pgrlab/core/task"
	"pgrlab/presets"
	"pgrlab/tui"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/command/runflags"
	"pgrlab/tui/command/terminal"
)

// sweepFlags say what the grid consists of.
type sweepFlags struct {
	preset, scale        string
	observation, tv      string
	tasks, methods       []string
	seeds                string
	steps, threads, jobs int
	set, at, vary        []string
	out, disk, device    string
	results              string
	on                   string
	callFlags
	profile    string
	devices    []string // devices of this machine, among which the jobs are divided
	free       []uint64 // their free memory, bytes
	jobsOn     string   // device on which all jobs compute, in place of the grid's; empty: the grid's
	pack       bool
	worker     string // the name of this engine among the sweep's engines; empty: made from host and process
	element    string // the element of a Slurm job array that this engine is
	runsPerJob int
	own        own          // what tasks of files are made from
	commands   []string     // programs that simulate tasks
	outside    task.Outside // how programs of tasks are started
	data       runflags.Data
	changed    func(string) bool
}

// Command makes the command; root makes the whole command line, of which a job is one call.
func Command(d cli.Deps, root func() *cobra.Command) *cobra.Command {
	var f sweepFlags
	c := &cobra.Command{
		Use:   "sweep --task T,… --method M,… --seeds 0-4 --out DIR",
		Short: "train a grid of runs, on this machine or a cluster",
		Long: `Trains every task with every method and seed, and with --vary every combination of some
values of knobs and keys. Several runs train at a time, each in a process of its own
with its own run folder below DIR. Ctrl-C and SIGTERM save all runs and end the sweep; it
goes on if the terminal ends (pgrlab sweep status DIR, pgrlab sweep cancel DIR).
Started again, with the same flags or with --out alone, it continues with what is
missing and repeats nothing, whatever was killed. SIGUSR1 and SIGUSR2 save all runs.

DIR/grid.json numbers the jobs. pgrlab sweep job DIR INDEX makes an attempt at one of
them: status 0 means done, 85 means saved but not done, to be run again. Several sweeps
over one DIR divide the work between them. --device all, or a list such as
cuda:0,cuda:2, gives each GPU one job at a time, or divides --jobs among the GPUs. With
--device all --pack each GPU gets as many jobs as its memory has room for, judging by
what the first ones took, and as there are processors. With --out alone, --device also moves the jobs
that have begun.

--on slurm submits the jobs as a job array instead, of which --jobs run at a time, and
shows their progress (--profile NAME takes options of sbatch from the settings). DIR and
this program must be on a disk that the nodes see. --runs-per-job N lets each element do
N runs side by side. Jobs whose time is nearly over save themselves and queue again.
Ctrl-C closes only the view: the same command opens it again, and submits what is
missing and not queued; sweep status DIR shows the progress once, sweep cancel DIR ends
the jobs.

--on ssh:HOST,HOST:N runs the jobs on machines that share the disk with DIR and this
program, --jobs of them at a time on each machine, or N. It uses the system's ssh, with
keys that work without a prompt. On each host it starts a worker that goes on without
this view and takes missing jobs from the grid, including those of a host that died.

--results FILE.csv keeps what each run measured as soon as the run ends, as pgrlab
report --results does. It leaves out runs that the file has as finished or diverged with
the same settings, seed and length, whatever machine they ran on, and makes those again
that a machine ended. With the file in version control a study goes on from machine to
machine, and loses at most the runs that have not ended.`,
		Example: `  pgrlab sweep --task cheetah-run --method redq,pgr-curiosity --seeds 0-4 --scale short --out sweeps/a
  pgrlab sweep --out sweeps/a                          continue
  pgrlab sweep --out sweeps/a --device all             continue on all GPUs of this machine
  pgrlab sweep --out sweeps/a --device cpu             continue on the CPU, wherever it began
  pgrlab attach sweeps/a/0003-*/run                    look at one of the runs
  pgrlab report sweeps/a/*/run
  pgrlab sweep --out sweeps/a --on slurm --sbatch --time=4:00:00 --sbatch --partition=gpu --sbatch --gres=gpu:1
  pgrlab sweep --out sweeps/a --on slurm --runs-per-job 4 --sbatch --gres=gpu:1 --sbatch --cpus-per-task=4
  pgrlab sweep --out sweeps/a --on ssh:box1,box2:4
  pgrlab sweep --task cartpole-swingup --method synther,pgr-curiosity --scale demo --observation pixels --out sweeps/c
  pgrlab sweep --task maze-sparse,maze-very-sparse --method ppo,ppo-rnd --scale short --tv noise --seeds 0-2 --out sweeps/d
  pgrlab sweep --task walker-walk --method pgr-curiosity --vary guidance=0.5,1,2 --vary generator.width=128,256 --seeds 0-2 --out sweeps/e
  pgrlab sweep --preset fig-bonus --method synther,pgr-curiosity --seeds 0-19 --out sweeps/b --results study.csv`,
		Args: d.BareNames,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.readProfile(tui.Home()); err != nil {
				return err
			}
			if err := f.checkPlace(); err != nil {
				return err
			}
			if err := f.findDevices(d); err != nil {
				return err
			}
			g, err := f.grid(d, c.ErrOrStderr())
			if err == nil && f.results == "" { // what an earlier command with it left out is needed
				g.NeedOnly(func(sweep.Job) bool { return true })
				err = g.KeepNeeded()
			}
			if err != nil {
				return err
			}
			d.Programs.Rest()
			switch {
			case f.on == onSlurm:
				return f.runOnCluster(c.Context(), g, c.ErrOrStderr())
			case f.on != onHere:
				return f.runOnHosts(c.Context(), g, c.ErrOrStderr())
			}
			if said := tooMuch(needs(d, g), f.atOnce(g), config.ThisMachine()); said != "" {
				fmt.Fprintln(c.ErrOrStderr(), said)
			}
			jobs := unbegun(g)
			return f.run(c.Context(), g, c.ErrOrStderr(), func(say func(string)) {
				go func() {
					if said := f.tooLarge(c.Context(), d, g, jobs); said != "" {
						say(said)
					}
				}()
			})
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringSliceVar(&f.tasks, "task", nil, "`T,…` tasks (pgrlab list tasks), or task files")
	flags.StringArrayVar(&f.commands, "env", nil, "`COMMAND` program that simulates a task, in quotes: 'python3 my_env.py'; repeatable")
	flags.StringSliceVar(&f.methods, "method", nil, "`M,…` methods (pgrlab list methods)")
	flags.StringVar(&f.seeds, "seeds", "0-4", "`N,A-B,…` seeds")
	flags.StringVar(&f.preset, "preset", "", "`NAME|FILE` preset to start from (pgrlab list presets)")
	flags.StringVar(&f.scale, "scale", "", "`S` scale: the sizes of everything in a run (pgrlab list scales; default: the preset's, else demo)")
	cli.CountIn(flags, &f.steps, "steps", 0, 1, cli.MaxSteps, "`N` environment steps of each run, such as 20000, 20k or 1.5M (default: the scale's)")
	flags.StringVar(&f.observation, "observation", "", "`state|pixels` what the agents observe of the task (default: what the method takes)")
	flags.StringVar(&f.tv, "tv", "", cli.TVUsage)
	flags.StringArrayVar(&f.set, "set", nil, runflags.SetUsage)
	flags.StringArrayVar(&f.vary, "vary", nil, "`KEY=V,V,…` run the grid with each of these values of a knob or key, lists in brackets; repeatable, for every combination")
	flags.StringArrayVar(&f.at, "at", nil, "`STEP:KNOB=VALUE` turn a knob after that step; repeatable")
	flags.StringVar(&f.device, "device", "auto", "`cpu|auto|cuda|all|cuda:0,cuda:2` where to compute: each job chooses for itself, or the jobs are divided among all or some GPUs of this machine")
	flags.StringVar(&f.out, "out", "", "`DIR` folder of the sweep")
	cli.CountVar(flags, &f.jobs, "jobs", 0, 1, "`N` most runs at a time (default: one per processor, or per GPU of --device)")
	flags.BoolVar(&f.pack, "pack", false, "with --device all: do as many runs on each GPU as its memory has room for, judging by what the first ones took")
	cli.CountIn(flags, &f.threads, "threads", 1, 1, cli.MaxThreads, "`N` threads of each run; the results stay the same")
	flags.StringVar(&f.results, "results", "", "`FILE.csv` keep the results in this file, and leave out runs that it already has")
	flags.StringVar(&f.disk, "disk", "", "`SIZE` most disk space for the checkpoints of each run, such as 5GiB (default a tenth of what is free)")
	flags.StringVar(&f.on, "on", onHere, "`here|slurm|ssh:HOST,HOST:N` where the jobs run: on this machine, on a cluster as a job array, or on machines that share a disk")
	flags.StringArrayVar(&f.sbatch, "sbatch", nil, "`OPTION` for sbatch with --on slurm, such as --time=4:00:00 or --gres=gpu:1; repeatable")
	cli.CountIn(flags, &f.runsPerJob, "runs-per-job", 1, 1, maxRunsPerJob, "`N` runs in each Slurm job, side by side on what the job is given, such as one GPU")
	flags.StringVar(&f.profile, "profile", "", "`NAME` profile with options of sbatch, which come before those of --sbatch: [profile.NAME] in settings.toml")
	flags.StringArrayVar(&f.ssh, "ssh", nil, "`OPTION` for ssh with --on ssh:…, in one word, such as -oProxyJump=gate; repeatable")
	f.data.Bind(flags)
	cli.SetGroup(flags, cli.OfData, runflags.OfData...)
	cli.SetGroup(flags, cli.OfPrograms, cli.BindOutside(flags, &f.outside)...)
	f.changed = flags.Changed
	c.AddCommand(sweepJobCommand(root), workerCommand(), statusCommand(), cancelCommand(), requeueCommand(), pokeCommand())
	return c
}

// maxRunsPerJob is more than the processors of a node.
const maxRunsPerJob = 1024

// Where the jobs of a sweep run.
const (
	onHere  = "here"
	onSlurm = "slurm"
	onSSH   = "ssh:" // followed by the hosts
)

// checkPlace checks the flags that say where the jobs run.
func (f *sweepFlags) checkPlace() error {
	names, hosts := strings.CutPrefix(f.on, onSSH)
	switch {
	case f.on != onHere && f.on != onSlurm && !hosts:
		return cli.Usagef("sweep: --on %s: want %s, %s or %sHOST,…", f.on, onHere, onSlurm, onSSH)
	case f.on != onSlurm && len(f.sbatch) > 0:
		return cli.Usagef("sweep: --sbatch and --profile are for --on slurm")
	case f.on != onSlurm && f.changed("runs-per-job"):
		return cli.Usagef("sweep: --runs-per-job is for --on slurm: elsewhere --jobs says how many run at a time")
	case !hosts && len(f.ssh) > 0:
		return cli.Usagef("sweep: --ssh is for --on ssh:HOST,…")
	}
	if hosts {
		if _, err := ssh.Hosts(names, f.jobs); err != nil {
			return cli.Usagef("sweep: --on %s: %w", f.on, err)
		}
	}
	return f.check()
}

// gridFlags are the flags that say more about the jobs of a new grid. They would have no effect on
// an existing one.
var gridFlags = []string{"seeds", "scale", "steps", "observation", "tv", "set", "vary", "at", "env-arg", "python", "act-bound", "episode-steps", "env-timeout", "env-procs"}

// grid makes the grid that the flags ask for, or finds the one to continue.
func (f *sweepFlags) grid(d cli.Deps, stderr io.Writer) (*sweep.Grid, error) {
	if f.out == "" {
		return nil, cli.Usagef("sweep: where to: give --out DIR")
	}
	if len(f.tasks) == 0 && len(f.commands) == 0 && len(f.methods) == 0 && f.preset == "" {
		g, err := sweep.Open(f.out)
		if errors.Is(err, os.ErrNotExist) {
			return nil, cli.Usagef("sweep %s: there is none yet: say what to run with --task, --method or --preset", f.out)
		}
		if i := slices.IndexFunc(gridFlags, f.changed); err == nil && i >= 0 {
			return nil, cli.Usagef("sweep %s: its jobs are fixed: leave out --%s, or choose another --out for a sweep with it", f.out, gridFlags[i])
		}
		if f.changed("device") && len(f.devices) == 0 {
			f.jobsOn = f.device
		}
		return g, err
	}
	if rundir.Exists(filepath.Join(f.out, run.JournalName)) {
		return nil, cli.Usagef("sweep %s: that is the folder of a run: choose another --out", f.out)
	}
	f.own = own{}
	jobs, configs, err := f.expand(d, stderr)
	if err != nil {
		return nil, err
	}
	g, err := sweep.Create(f.out, jobs, configs)
	if err != nil {
		return nil, cli.AsUsage(err)
	}
	return g, f.own.keep(g)
}

// expand lists the jobs with their whole configurations, each of them checked.
func (f *sweepFlags) expand(d cli.Deps, stderr io.Writer) (jobs []sweep.Job, configs [][]byte, err error) {
	seeds, err := parseSeeds(f.seeds)
	if err != nil {
		return nil, nil, err
	}
	varied, err := parseVaried(f.vary)
	if err == nil {
		err = setAndVaried(f.set, varied)
	}
	if err != nil {
		return nil, nil, err
	}
	orNone := func(names []string) []string {
		if len(names) == 0 {
			return []string{""}
		}
		return names
	}
	problems := slices.Clone(f.tasks)
	for _, command := range f.commands {
		problems = append(problems, d.Programs.NameOf(command))
	}
	for _, problem := range orNone(problems) {
		for _, method := range orNone(f.methods) {
			for _, variant := range f.variants(d, problem, method, varied, stderr) {
				for _, seed := range seeds {
					j, doc, err := f.job(d, problem, method, variant, seed, seeds)
					if err != nil {
						return nil, nil, err
					}
					if twin := slices.IndexFunc(configs, func(other []byte) bool { return bytes.Equal(other, doc) }); twin >= 0 {
						return nil, nil, sameRun(jobs[twin], j)
					}
					j.Index = len(jobs)
					jobs, configs = append(jobs, j), append(configs, doc)
				}
			}
		}
	}
	return jobs, configs, nil
}

// sameRun is the error of two jobs that are the same run.
func sameRun(a, b sweep.Job) error {
	if a.Variant != b.Variant {
		return cli.Usagef("sweep: --vary: %q and %q are the same run", a.Variant, b.Variant)
	}
	return cli.Usagef("sweep: %s on %s stands there twice: name every task and every method once", b.Method, b.Task)
}

// job is a job without its index, with its configuration; seeds are those of all jobs that are
// otherwise like it.
func (f *sweepFlags) job(d cli.Deps, problem, method string, v variant, seed uint64, seeds []uint64) (sweep.Job, []byte, error) {
	r := f.flags(problem, method, v, seed)
	c, on, err := r.ConfigureElsewhere(d)
	if err == nil {
		err = f.own.add(on)
	}
	if err != nil {
		return sweep.Job{}, nil, fmt.Errorf("sweep %s: %w", cmp.Or(strings.TrimSpace(problem+" "+method), f.preset), err)
	}
	if c.Device != "cpu" && c.Device != "auto" && c.Device != "cuda" {
		return sweep.Job{}, nil, cli.Usagef("sweep: device %s of the preset: choose GPUs with --device", c.Device)
	}
	if twice, shares := shared(seed, c.Members, seeds); shares {
		return sweep.Job{}, nil, cli.Usagef("sweep: --seeds %s: with members = %d the run of seed %d trains seed %d as well: want seeds that are %d apart", f.seeds, c.Members, seed, twice, c.Members)
	}
	doc, err := presets.Encode(c)
	return sweep.Job{Task: c.Task, Method: c.Method, Seed: seed, Steps: c.Steps, Variant: v.String()}, doc, err
}

// flags are the flags of a run of the grid.
func (f *sweepFlags) flags(problem, method string, v variant, seed uint64) runflags.Flags {
	r := runflags.Flags{Preset: f.preset, Task: problem, Method: method, Scale: f.scale, Seed: seed, Steps: f.steps,
		Set: f.set, Vary: v, At: f.at, Device: f.device, Outside: f.outside, Data: f.data,
		Changed: func(name string) bool {
			return name == "seed" || (name == "steps" || name == "tv" || slices.Contains(runflags.OfPrograms, name) || slices.Contains(runflags.OfData, name)) && f.changed(name)
		}}
	r.Environment.Observation, r.Environment.TV = f.observation, f.tv
	return r
}

// run does the work and shows it on w; ready is called when the engine has its name, with what shows a
// line.
func (f *sweepFlags) run(parent context.Context, g *sweep.Grid, w io.Writer, ready func(say func(text string))) error {
	file := &sweepResultsFile{path: f.results, grid: g}
	if err := file.leave(w); err != nil {
		return fmt.Errorf("sweep %s: %w", f.out, err)
	}
	say := make(chan string, 64)
	e := &sweep.Engine{Grid: g, Workers: f.atOnce(g), Leaves: f.element != "", Say: func(text string) { say <- text }}
	e.Devices = f.devices
	if f.pack {
		e.Most = newRoom(g, f.free, time.Now).runs
	}
	e.Process = func(j sweep.Job, device string) *exec.Cmd { return f.process(g, j, device) }
	e.Ended = func(j sweep.Job) {
		if err := file.keep([]sweep.Job{j}, io.Discard); err != nil {
			say <- fmt.Sprintf("%s: %v; the next sweep with --results tries again", j.Name(), err)
		}
	}
	ctx, stop := terminal.StartWatch(parent, os.Exit, func() {}, func(string) { e.Signal(syscall.SIGUSR1) }, func(again string) { say <- "saving and ending" + again })
	defer stop()
	unregister, err := f.register(e)
	if err != nil {
		return err
	}
	ready(e.Say)
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	v := &sweepView{engine: e, progress: terminal.NewProgress(w)}
	if f.worker == "" && terminal.IsTerminal(w) {
		v.progress.Say(fmt.Sprintf("this goes on if the terminal ends: pgrlab sweep status %s shows it then, pgrlab sweep cancel %s ends it", shell.Word(f.out), shell.Word(f.out)))
	}
	err = v.follow(ctx, say, ended)
	unregister(err)
	var moved *sweep.Moved
	if f.element == "" && ctx.Err() == nil && !errors.As(err, &moved) { // otherwise it is only a part of the sweep, or goes on later
		err = errors.Join(err, file.keep(g.Jobs, w), sweepResults(w, g, f.out, file))
	}
	var s cli.Signalled
	if err != nil && !errors.As(err, &s) {
		return fmt.Errorf("sweep %s: %w", f.out, err)
	}
	return err
}

// process is this program, making an attempt at a job.
func (f *sweepFlags) process(g *sweep.Grid, j sweep.Job, device string) *exec.Cmd {
	args := []string{"sweep", "job", g.Path(), strconv.Itoa(j.Index), "--until-eof", "--threads", strconv.Itoa(f.threads)}
	if f.disk != "" {
		args = append(args, "--disk", f.disk)
	}
	if device = cmp.Or(device, f.jobsOn); device != "" {
		args = append(args, "--device", device)
	}
	return cli.Self(args...)
}
