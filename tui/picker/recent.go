package picker

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sort"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/config"
	"pgrlab/core/cost"
	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/history"
)

// Recent is an earlier run.
type Recent struct {
	Dir, What string
	When      time.Time
	Step      int
	Return    float64 // of the last evaluation, the mean over all seeds; NaN: there was none

	Config   config.Config
	Measured cost.Model // what units of its work took
	journal  cost.Journal
}

// RecentRead delivers the earlier runs.
type RecentRead []Recent

// ReadRecent reads what the earlier runs were, outside the event loop: the first frame does not wait for
// their journals.
func (p *Picker) ReadRecent() tea.Cmd {
	read := p.Choices.Recent
	if read == nil {
		return nil
	}
	return func() tea.Msg { return RecentRead(read()) }
}

// TakeRecent takes over what was read.
func (p *Picker) TakeRecent(all RecentRead) {
	p.Recent, p.reads = all, false
	p.Changed()
}

// RecentRuns finds the run folders directly below root, newest first, at most limit.
func RecentRuns(root string, limit int) []Recent {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil
	}
	var out []Recent
	for _, e := range entries {
		dir := filepath.Join(root, e.Name())
		if run.IsUnfinished(e.Name()) {
			continue
		}
		if info, err := os.Lstat(filepath.Join(dir, run.JournalName)); err == nil && info.Mode().IsRegular() {
			out = append(out, Recent{Dir: dir, When: info.ModTime()})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].When.After(out[j].When) })
	kept := out[:0]
	for _, r := range out {
		if len(kept) == limit {
			break
		}
		if described, err := describe(r); err == nil {
			kept = append(kept, described)
		}
	}
	return kept
}

// describe reads what a run was and how far it came.
func describe(r Recent) (Recent, error) {
	events, err := history.ReadJournal(r.Dir)
	if err != nil {
		return r, err
	}
	if len(events) == 0 {
		return r, errors.New("empty")
	}
	h := history.New(0, 0)
	for _, e := range events {
		r.Step = e.Step
		r.journal.Take(e)
		switch b := e.Body.(type) {
		case event.Start:
			r.What = fmt.Sprintf("%s on %s, scale %s, seed %d", b.Method, b.Task, b.Scale, b.Seed)
		case event.Evaluated:
			h.Take(e)
		}
	}
	r.Return = math.NaN()
	if n := len(h.Evaluations); n > 0 {
		r.Return = h.Evaluations[n-1].Mean
	}
	r.Config, _ = ReadConfig(r.Dir) // from another version: the zero value matches no configuration
	r.Measured = r.journal.Model(&r.Config)
	return r, nil
}

// ReadConfig reads the configuration of a run folder.
func ReadConfig(dir string) (config.Config, error) {
	doc, err := run.ReadFile(dir, run.ConfigName)
	if err != nil {
		return config.Config{}, err
	}
	return presets.Decode(filepath.Join(dir, run.ConfigName), doc)
}

// like is the newest earlier run on this machine whose units of work are as large as those of c, and of
// which all were measured, on a device of that name; "": it is not known.
func like(c config.Config, on string, recent []Recent) (r Recent, ok bool) {
	host, _ := os.Hostname()
	for _, r := range recent {
		if r.journal.Host == host && r.journal.Fits(&r.Config, &c) && (on == "" || on == r.Measured.Device) {
			return r, true
		}
	}
	return r, false
}
