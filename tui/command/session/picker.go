package session

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/cost"
	"pgrlab/core/lab"
	"pgrlab/core/run"
	"pgrlab/core/task"
	"pgrlab/presets"
	"pgrlab/tui"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/machine"
	"pgrlab/tui/command/replay"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/command/runflags"
	"pgrlab/tui/command/terminal"
	"pgrlab/tui/picker"
)

// An opener makes at most one run: the one chosen on the first screen.
type opener struct {
	deps cli.Deps
	ctx  context.Context // context of the run

	leaving chan struct{} // asks the screen to leave

	trying sync.Mutex // held during a trial
	tried  sync.Map   // the models that trials found, by their configurations without a seed
	files  sync.Map   // tasks of files, by the names that configurations have for them

	mu    sync.Mutex
	over  bool // the screen is gone: open nothing any more
	s     *session
	begin *beginning
}

// PickOnScreen lets a person choose a run, and shows it; after an earlier run the person chooses
// again.
func PickOnScreen(parent context.Context, d cli.Deps, w io.Writer) error {
	for {
		outcome, err := pickOne(parent, d, w)
		if err != nil || outcome != tui.FirstScreenRequested {
			return err
		}
	}
}

// pickOne shows the first screen and what is chosen there; the outcome is that of a screen without a
// run of this process.
func pickOne(parent context.Context, d cli.Deps, w io.Writer) (tui.Outcome, error) {
	say := make(chan string, 8)
	o := &opener{deps: d}
	ctx, stop := terminal.StartWatch(parent, d.Exit, func() {}, o.save, func(again string) { terminal.Offer(say, o.ending()+again) })
	defer stop()
	o.ctx = ctx
	home, err := replay.SettingsHome(w)
	if err != nil {
		return tui.Failed, err
	}
	o.leaving = make(chan struct{}, 1)
	defer onSuspend(o.leaving, func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.s != nil && o.s.leaves()
	})()
	outcome, err := d.Screen(ctx, tui.Options{Leave: o.leaving, Picker: o.picker(), Characters: terminal.Characters(), Home: home})
	s, begin := o.end()
	if s == nil {
		if err == nil {
			err = context.Cause(ctx)
		}
		return outcome, err
	}
	return tui.Detached, s.afterScreen(ctx, begin, outcome, err, w, say)
}

// save asks for a checkpoint of the run, if there is one.
func (o *opener) save(by string) {
	o.mu.Lock()
	s := o.s
	o.mu.Unlock()
	if s != nil {
		s.save(by)
	}
}

// ending says what a signal does.
func (o *opener) ending() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.s == nil {
		return "ending"
	}
	return o.s.ending()
}

// end returns what was opened, and prevents any further opening.
func (o *opener) end() (*session, *beginning) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	return o.s, o.begin
}

func (o *opener) picker() *tui.Picker {
	return &tui.Picker{
		Choices: picker.Choices{
			Presets: items(presets.Presets()), Tasks: o.tasks(), Methods: items(presets.Methods()), Scales: items(presets.Scales()),
			Devices: o.devices(),
			Observations: []picker.Item{
				{Name: task.ObservationState, Doc: "numbers of the simulator"},
				{Name: task.ObservationPixels, Doc: "frames of a camera: drqv2, synther and pgr in its latent space, ppo in mazes"},
			},
			Resolve: func(c picker.Picks) (config.Config, error) {
				config, found, err := pickFlags(c).Configure(o.deps)
				if err == nil && found.Own != nil {
					o.files.Store(found.Name, found)
				}
				return config, err
			},
			Try:   o.try,
			Check: o.check, Allowed: o.allowed,
			Recent: func() []picker.Recent { return picker.RecentRuns(rundir.Root(), 20) },
		},
		Open: o.open,
	}
}

func items(entries []presets.Entry) []picker.Item {
	var all []picker.Item
	for _, e := range entries {
		all = append(all, picker.Item(e))
	}
	return all
}

func (o *opener) tasks() []picker.Item {
	var all []picker.Item
	for _, t := range o.deps.Tasks {
		all = append(all, picker.Item{Name: t.Name, Doc: t.Doc})
	}
	return all
}

func (o *opener) devices() []picker.Item {
	var all []picker.Item
	for _, v := range machine.DeviceValues(o.deps) {
		if v.Usable {
			all = append(all, picker.Item{Name: v.Name, Doc: v.Doc})
		}
	}
	return all
}

// pickFlags are the flags that correspond to what was picked.
func pickFlags(c picker.Picks) *runflags.Flags {
	return &runflags.Flags{Preset: c.Preset, Task: c.Task, Method: c.Method, Scale: c.Scale, Environment: task.Environment{Observation: c.Observation}, Device: c.Device, Seed: c.Seed, Steps: c.Steps,
		Changed: func(name string) bool {
			return name == "seed" || name == "steps" && c.Steps > 0 || name == "observation" && c.Observation != ""
		}}
}

// problem is the task of a configuration that was resolved.
func (o *opener) problem(c config.Config) (task.Task, error) {
	if t, is := o.files.Load(c.Task); is {
		return t.(task.Task), nil
	}
	return o.deps.TaskIn("", c.Task, c.Environment)
}

// try finds out what a run would take on this machine. It uses no GPU for that: for a run on a GPU,
// only its disk use is known beforehand.
func (o *opener) try(ctx context.Context, c config.Config) (f picker.Forecast, err error) {
	o.trying.Lock() // two trials at the same time would distort each other's measurements
	defer o.trying.Unlock()
	if err := ctx.Err(); err != nil {
		return f, err
	}
	problem, err := o.problem(c)
	if err != nil {
		return f, err
	}
	if c.Sees() {
		defer func() { f.Frames = int64(float64(c.Members) * c.FramesMemory(problem)) }()
	}
	device, err := o.deps.Device(cli.DeviceRequest{})
	if err != nil {
		return f, err
	}
	defer device.Close()
	f.Free = run.Free(rundir.Root())
	if c.Device == "cpu" {
		if f.Model, err = lab.Try(ctx, c, problem, device); err == nil {
			o.tried.Store(unseeded(c), f.Units)
		}
		return f, err
	}
	f.Disk, err = DiskNeed(ctx, c, problem, device)
	return f, err
}

// DiskNeed is what a run of c will take on the disk. It is found out on a CPU, whatever device c names.
func DiskNeed(ctx context.Context, c config.Config, problem task.Task, cpu cli.Device) (cost.Disk, error) {
	c.Device, c.Precision = "cpu", ""
	l, err := lab.New(ctx, c, problem, cpu, nil)
	if err != nil {
		return cost.Disk{}, err
	}
	defer l.Close()
	return l.DiskNeed()
}

// unseeded is a key for what does not depend on the seed of a run.
func unseeded(c config.Config) string {
	c.Seed = 0
	return fmt.Sprintf("%+v", c)
}

// open makes the session that was picked, or the replay of a past run.
func (o *opener) open(c picker.Picks) (tui.Options, error) {
	if c.Reopen != "" && !c.Resume {
		return replay.AtEnd(o.deps, c.Reopen)
	}
	flags := pickFlags(c)
	if c.Resume {
		flags = &runflags.Flags{Resume: c.Reopen, Device: c.Device, Changed: func(string) bool { return false }}
	}
	s, err := openRun(o.deps, flags, time.Now(), nil)
	if err != nil {
		return tui.Options{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		s.drop()
		return tui.Options{}, context.Canceled
	}
	s.leaving = o.leaving
	if u, tried := o.tried.Load(unseeded(s.config)); tried {
		s.expected = u.(cost.Units)
	}
	o.s, o.begin = s, newBeginning(func() error { return s.start(o.ctx, lab.FaultPause) })
	return s.options(o.begin), nil
}
