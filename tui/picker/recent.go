package picker

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
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

	Config config.Config
	Host   string
	Costs  config.Costs // costs of its parts, as far as it has measured them
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
		switch b := e.Body.(type) {
		case event.Start:
			r.What = fmt.Sprintf("%s on %s, scale %s, seed %d", b.Method, b.Task, b.Scale, b.Seed)
			r.Host = b.Obs.Host
		case event.Evaluated:
			h.Take(e)
		}
	}
	r.Return = math.NaN()
	if n := len(h.Evaluations); n > 0 {
		r.Return = h.Evaluations[n-1].Mean
	}
	r.Costs = costsOf(events)
	r.Config, _ = ReadConfig(r.Dir) // from another version: the zero value matches no configuration
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

// costsOf are the costs of the parts of a run, from its perf lines; none if a knob was changed that
// makes the parts larger or smaller.
func costsOf(events []event.Event) config.Costs {
	var c config.Costs
	spent, evaluations := 0.0, 0
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.KnobChanged:
			if slices.Contains(weighing, b.Knob) {
				return config.Costs{}
			}
		case event.Perf:
			c.Step, c.FitStep, c.Sample = float64(b.StepS), float64(b.FitStepS), float64(b.SampleS)
			spent += float64(b.Spent.Evaluate)
			evaluations++
		}
	}
	if evaluations > 0 {
		c.Evaluation = spent / float64(evaluations)
	}
	return c
}

// weighing are the knobs that change the cost of a part of a run.
var weighing = []string{"utd", "batch", "hold", "ratio", "relevance", "sampler_steps"}

// lastAs is the newest earlier run on this machine whose parts were as large as those of c, and of
// which all parts were measured.
func lastAs(c config.Config, recent []Recent) (r Recent, ok bool) {
	host, _ := os.Hostname()
	for _, r := range recent {
		whole := r.Costs.Step > 0 && (r.Costs.Sample > 0 || c.Generator.Kind == config.GeneratorNone)
		if whole && r.Host == host && reflect.DeepEqual(parts(r.Config), parts(c)) {
			return r, true
		}
	}
	return r, false
}

// parts is c without the settings that decide how often its parts occur, or with which random
// numbers.
func parts(c config.Config) config.Config {
	k := c.Knobs
	c.Knobs = knob.Settings{UTD: k.UTD, Batch: k.Batch, Hold: k.Hold, Ratio: k.Ratio, Relevance: k.Relevance, SamplerSteps: k.SamplerSteps}
	c.Seed, c.Preset, c.Scale, c.Schedule = 0, "", "", nil
	c.Steps, c.StartSteps, c.Buffer, c.Evaluation.Every, c.Evaluation.KeepEvery = 0, 0, 0, 0, 0
	return c
}
