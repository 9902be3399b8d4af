package command

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"pgrlab/core/lab"
	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/picker"
)

// An opener makes the run that the picker of the screen chooses, at most one.
type opener struct {
	deps Deps
	ctx  context.Context // of the run

	leaving chan struct{} // asks the screen to leave

	trying sync.Mutex // held by a trial

	mu    sync.Mutex
	over  bool // the screen is gone: open nothing any more
	s     *session
	begin *beginning
}

// pickOnScreen lets a person choose what to run, and shows it.
func pickOnScreen(parent context.Context, d Deps, w io.Writer) error {
	say := make(chan string, 8)
	o := &opener{deps: d}
	ctx, stop := startWatch(parent, func() {}, o.save, func(text string) { offer(say, text) })
	defer stop()
	o.ctx = ctx
	home, err := settingsHome(w)
	if err != nil {
		return err
	}
	o.leaving = make(chan struct{}, 1)
	defer onSuspend(o.leaving, func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.s != nil && o.s.leaves()
	})()
	outcome, err := d.Screen(ctx, tui.Options{Leave: o.leaving, Picker: o.picker(), Characters: characters(), Home: home})
	s, begin := o.end()
	if s == nil {
		if err == nil {
			err = context.Cause(ctx)
		}
		return err
	}
	return s.afterScreen(ctx, begin, outcome, err, w, say)
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

// end is what was opened; nothing is opened afterwards.
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
			Resolve: func(c picker.Picks) (lab.Config, error) {
				config, _, err := pickFlags(c).configure(o.deps)
				return config, err
			},
			Try:    o.try,
			Recent: func() []picker.Recent { return picker.RecentRuns(runsRoot(), 20) },
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
	for _, v := range deviceValues(o.deps) {
		if v.Usable {
			all = append(all, picker.Item{Name: v.Name, Doc: v.Doc})
		}
	}
	return all
}

// pickFlags are the flags that mean what was picked.
func pickFlags(c picker.Picks) *runFlags {
	return &runFlags{preset: c.Preset, task: c.Task, method: c.Method, scale: c.Scale, device: c.Device, seed: c.Seed, steps: c.Steps,
		changed: func(name string) bool { return name == "seed" || name == "steps" && c.Steps > 0 }}
}

// try finds out what a run takes on this machine. A GPU is not taken for that: of a run
// on one only what it writes is known before.
func (o *opener) try(ctx context.Context, c lab.Config) (f picker.Forecast, err error) {
	o.trying.Lock() // two at a time would measure each other
	defer o.trying.Unlock()
	if err := ctx.Err(); err != nil {
		return f, err
	}
	task, err := o.deps.task(c.Task)
	if err != nil {
		return f, err
	}
	device, err := o.deps.Device(DeviceRequest{})
	if err != nil {
		return f, err
	}
	defer device.Close()
	f.Free = run.Free(runsRoot())
	if c.Device == "cpu" {
		f.Forecast, err = lab.Try(ctx, c, task, device)
		return f, err
	}
	c.Device, c.Precision = "cpu", ""
	l, err := lab.New(c, task, device, nil)
	if err != nil {
		return f, err
	}
	defer l.Close()
	f.Disk, err = l.DiskNeed()
	return f, err
}

// open makes the session that was picked, or the replay of an earlier run.
func (o *opener) open(c picker.Picks) (tui.Options, error) {
	if c.Reopen != "" && !c.Resume {
		return replayOptions(c.Reopen, replayAtOnce)
	}
	flags := pickFlags(c)
	if c.Resume {
		flags = &runFlags{resume: c.Reopen, device: c.Device, changed: func(string) bool { return false }}
	}
	s, err := flags.open(o.deps, time.Now())
	if err != nil {
		return tui.Options{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		s.folder.Close()
		s.discard()
		return tui.Options{}, context.Canceled
	}
	s.leaving = o.leaving
	o.s, o.begin = s, newBeginning(func() error { return s.start(o.ctx, lab.FaultPause) })
	return s.options(o.begin), nil
}

// replayAtOnce is a speed at which a run is over before it is seen.
const replayAtOnce = 1e6

// replayOptions describe a run of the past to the screen.
func replayOptions(dir string, speed float64) (tui.Options, error) {
	file := filepath.Join(dir, run.ConfigName)
	doc, err := run.ReadFile(dir, run.ConfigName)
	if errors.Is(err, fs.ErrNotExist) {
		return tui.Options{}, usagef("replay: %s is no run folder: it has no %s", dir, run.ConfigName)
	}
	if err != nil {
		return tui.Options{}, usagef("replay %s: %w", dir, err)
	}
	config, err := presets.Decode(file, doc)
	if err != nil {
		return tui.Options{}, err
	}
	return tui.Options{
		About: pane.About{Config: config, Folder: dir, Replay: true, References: references(config)},
		Start: func() (pane.Lab, error) {
			events, err := history.ReadJournal(dir)
			if err != nil {
				return nil, err
			}
			r, err := tui.NewReplay(config, dir, events, speed, nil)
			if err != nil {
				return nil, err // not r: a nil pointer in an interface is not nil
			}
			return r, nil
		},
	}, nil
}

// references are the published results for a run's task and method: the paper's
// first, then what others measured with the authors' code.
func references(c lab.Config) []pane.Reference {
	var all []pane.Reference
	add := func(source string, r presets.Result) {
		all = append(all, pane.Reference{Source: source, Mean: r.Mean, Std: r.Std, Step: r.Steps, OtherScale: c.Scale != "paper" && c.Scale != "release"})
	}
	if r, ok := presets.Reference(c.Task, c.Method); ok {
		add("paper", r)
	}
	for _, r := range presets.Independent(c.Task) {
		if r.Method == c.Method && r.Observation == "state" {
			add("independent", r)
		}
	}
	return all
}

// settingsHome is the user's folder of settings; wrong settings are the user's to
// mend before the screen covers the terminal.
func settingsHome(io.Writer) (string, error) {
	home := tui.Home()
	if home == "" {
		return "", nil
	}
	if _, err := tui.LoadSettings(home); err != nil {
		return "", asUsage(err)
	}
	return home, nil
}
