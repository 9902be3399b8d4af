package replay

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/results"
	"pgrlab/tui/command/terminal"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/scenes"
)

// usualSpeed is in seconds of the run per second.
const usualSpeed = 60

// AtEnd describes a past run to the screen, whose replay stands at its end.
func AtEnd(d cli.Deps, dir string) (tui.Options, error) {
	return options(d, dir, usualSpeed, (*tui.Replay).End, nil)
}

// Options describe a past run to the screen, which plays it from its beginning. Long reading is shown on stderr.
func Options(d cli.Deps, dir string, speed float64, stderr io.Writer) (tui.Options, error) {
	progress := terminal.NewProgress(stderr)
	defer progress.Clear()
	return options(d, dir, speed, func(*tui.Replay) {}, progress.Bytes("reads scenes:"))
}

// options describe a past run to the screen; begin prepares the replay, and reads, if there is one, is called as bytes are read.
func options(d cli.Deps, dir string, speed float64, begin func(*tui.Replay), reads func(done, total int64)) (tui.Options, error) {
	file := filepath.Join(dir, run.ConfigName)
	doc, err := run.ReadFile(dir, run.ConfigName)
	if errors.Is(err, fs.ErrNotExist) {
		return tui.Options{}, cli.Usagef("replay: %s is no run folder: it has no %s", dir, run.ConfigName)
	}
	if err != nil {
		return tui.Options{}, cli.Usagef("replay %s: %w", dir, err)
	}
	config, err := presets.Decode(file, doc)
	if err != nil {
		return tui.Options{}, err
	}
	about := pane.About{Config: config, Folder: run.Named(dir), Replay: true, References: References(config), Untrained: Untrained(config)}
	if about.Scenes, err = readScenes(dir, reads); err != nil {
		return tui.Options{}, err
	}
	if about.Scenes != nil {
		if t, err := d.TaskIn(dir, config.Task, config.Environment); err == nil { // else nothing is drawn
			about.Draw, about.Names, about.Choices = d.Drawing(t), t.Names, t.Choices
		}
	}
	var events []event.Event // once it has started
	about.Again = func() string { return Again(dir, events) }
	about.Alike = func() []history.Past { return results.Earlier(dir, config) }
	return tui.Options{
		About: about,
		Start: func() (pane.Lab, error) {
			var err error
			if events, err = history.ReadJournal(dir); err != nil {
				return nil, err
			}
			r, err := tui.NewReplay(config, dir, events, speed, nil)
			if err != nil {
				return nil, err // not r: a nil pointer in an interface is not nil
			}
			begin(r.WithScenes(about.Scenes))
			return r, nil
		},
	}, nil
}

// readScenes reads the scenes of a run; nil: it has none.
func readScenes(dir string, reads func(done, total int64)) (*scenes.Reel, error) {
	file, err := run.OpenFile(dir, scenes.FileName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	defer file.Close()
	from := io.Reader(file)
	if about, err := file.Stat(); err == nil && reads != nil {
		from = &meteredReader{Reader: file, total: about.Size(), reads: reads}
	}
	reel, err := scenes.Read(from)
	if err != nil {
		return nil, fmt.Errorf("replay: %s: %w: without that file the journal is played alone", filepath.Join(dir, scenes.FileName), err)
	}
	return reel, nil
}

// meteredReader reports how much of a file has been read.
type meteredReader struct {
	io.Reader
	done, total int64
	reads       func(done, total int64)
}

func (m *meteredReader) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.done += int64(n)
	m.reads(m.done, m.total)
	return n, err
}

// References are the results to compare a run with: first those of this program's runs with the
// same settings, then the paper's for its task and method, then those that others measured with the
// authors' code.
func References(c config.Config) []pane.Reference {
	var all []pane.Reference
	if own, _ := presets.Expect(c); own != nil {
		all = append(all, pane.Reference{Source: "expect", Mean: own.Mean, Std: own.Std, From: own.From, Step: own.Steps, Frames: framesOf(c, own.Steps)})
	}
	add := func(source string, r presets.Result) {
		step := r.Steps
		if r.Frames > 0 {
			step = r.Frames / c.Frames(1) // the same number of frames, in steps of this run
		}
		all = append(all, pane.Reference{Source: source, Mean: r.Mean, Std: r.Std, Step: step, Frames: r.Frames, Where: r.Where, OtherScale: c.Scale != "paper" && c.Scale != "release"})
	}
	if r, ok := presets.Reference(presets.OfRun(c)); ok {
		add("paper", r)
	}
	for _, r := range presets.Independent(c.Task) {
		if r.Of(presets.OfRun(c)) {
			add("independent", r)
		}
	}
	return all
}

// framesOf is the number of frames in so many env steps of a run that sees frames; 0 for other
// runs.
func framesOf(c config.Config, steps int) int {
	if !c.Sees() {
		return 0
	}
	return c.Frames(steps)
}

// Untrained is the return of a policy that has learned nothing on a run's task; nil: unknown.
func Untrained(c config.Config) *float64 {
	if v, known := presets.Untrained(c.Task, c.Observation()); known {
		return &v
	}
	return nil
}

// SettingsHome is the user's folder of settings; errors in the settings are reported to the user
// before the screen covers the terminal.
func SettingsHome(io.Writer) (string, error) {
	home := tui.Home()
	if home == "" {
		return "", nil
	}
	if _, err := tui.LoadSettings(home); err != nil {
		return "", cli.AsUsage(err)
	}
	return home, nil
}
