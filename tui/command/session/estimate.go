package session

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/device/cuda"
	"pgrlab/core/device/cuda/dry"
	"pgrlab/core/device/cuda/kernel"
	"pgrlab/core/knob"
	"pgrlab/core/lab"
	"pgrlab/core/task"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/machine"
)

// estimated is a program of a run on a GPU.
type estimated struct {
	Phase    string  `json:"phase"`
	Program  string  `json:"program"`
	Launches int     `json:"launches"` // of a run
	GFLOP    float64 `json:"gflop"`
	MB       float64 `json:"mb"`
	UpKB     float64 `json:"up_kb"` // that the host copies to the GPU
	MS       float64 `json:"ms"`
	Runs     float64 `json:"runs"`   // in a whole training run, as are Waits
	Waits    float64 `json:"waits"`  // of the host for the GPU
	Share    float64 `json:"share"`  // of the whole training run's time
	Beside   bool    `json:"beside"` // other programs run meanwhile, and its time is not in the whole
}

// seconds is the time of all runs that nothing else uses.
func (e estimated) seconds() float64 {
	if e.Beside {
		return 0
	}
	return e.all()
}

// all is the time of all runs.
func (e estimated) all() float64 { return e.Runs * e.MS / 1e3 }

// Estimate counts what a GPU would do in a run, on one that executes nothing, and writes a table.
func Estimate(ctx context.Context, d cli.Deps, e machine.Estimate) error {
	if e.Task != "" {
		task, err := d.Task(e.Task)
		if err != nil {
			return err
		}
		e.Task = task.Name
	}
	precision, err := kernel.ParsePrecision(e.Precision)
	if err != nil {
		return cli.AsUsage(err)
	}
	c, task, err := estimatedRun(d, e.Choice)
	if err != nil {
		return cli.AsUsage(err)
	}
	e.Say(fmt.Sprintf("counts what a GPU would do in %s on %s at scale %s: some seconds", c.Method, task.Name, c.Scale))
	dev, err := dry.New(dry.H100, cuda.Options{Precision: precision, Without: e.Without})
	if err != nil {
		return err
	}
	defer dev.Close()
	occurs, err := lab.Count(ctx, c, task, dev, func(phase func() knob.Phase) {
		dev.Classify(func() int { return int(phase()) })
	})
	if err != nil {
		return err
	}
	all := estimatedRows(dev.Programs(), occurs[:])
	if !e.AsJSON {
		return estimatedTable(e.Out, all, fmt.Sprintf("%s on %s at scale %s, %d env steps, H100 in %v", c.Method, task.Name, c.Scale, c.Steps, precision))
	}
	for _, row := range all {
		if err := json.NewEncoder(e.Out).Encode(row); err != nil {
			return err
		}
	}
	return nil
}

// estimatedRun is the configuration of a preset, and its task.
func estimatedRun(d cli.Deps, choice presets.Choice) (c config.Config, t task.Task, err error) {
	doc, err := presets.Show(choice)
	if err == nil {
		c, err = presets.Decode("preset", doc)
	}
	if err == nil {
		t, err = d.TaskIn(filepath.Dir(choice.Preset), c.Task, c.Environment)
	}
	if err == nil {
		err = c.Validate()
	}
	if err == nil {
		err = c.CanMake(t)
	}
	if err == nil {
		err = c.KnowsEnds(t)
	}
	return c, t, err
}

// estimatedRows are the programs with what they do in a whole run, those that take the longest first.
func estimatedRows(programs []dry.Program, occurs []lab.Occurrence) (all []estimated) {
	total := 0.0
	for _, p := range programs {
		for class, runs := range p.Runs {
			times := occurs[class].Whole / occurs[class].Counted
			row := estimated{
				Phase: knob.Phase(class).String(), Program: p.Name, Launches: p.Launches, GFLOP: p.FLOPs / 1e9, MB: p.Bytes / 1e6, UpKB: float64(p.Counts[class].Up) / float64(runs) / 1e3, MS: p.Seconds * 1e3,
				Runs: float64(runs) * times, Waits: float64(p.Counts[class].Waits) * times, Beside: p.Beside,
			}
			total += row.seconds()
			all = append(all, row)
		}
	}
	for i := range all {
		all[i].Share = all[i].seconds() / total
	}
	slices.SortStableFunc(all, func(a, b estimated) int {
		return cmp.Or(cmp.Compare(b.all(), a.all()), strings.Compare(a.Phase+a.Program, b.Phase+b.Program))
	})
	return all
}

// estimatedTable writes the rows for people.
func estimatedTable(out io.Writer, all []estimated, what string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "LAUNCHES\tGFLOP\tMB\tUP KB\tMODEL MS\tRUNS\tWAITS\tSHARE\t  PROGRAM\n")
	seconds, beside, waits := 0.0, 0.0, 0.0
	for _, r := range all {
		share := fmt.Sprintf("%.1f%%", 100*r.Share)
		if r.Beside {
			share, beside = "beside", beside+r.all()
		}
		fmt.Fprintf(w, "%d\t%.4g\t%.4g\t%.4g\t%.3f\t%.0f\t%.0f\t%s\t  %s: %s\n", r.Launches, r.GFLOP, r.MB, r.UpKB, r.MS, r.Runs, r.Waits, share, r.Phase, r.Program)
		seconds, waits = seconds+r.seconds(), waits+r.Waits
	}
	if err := w.Flush(); err != nil {
		return err
	}
	kernels := lasts(seconds) + " of kernels"
	if beside > 0 {
		kernels += ", and " + lasts(beside) + " beside them"
	}
	_, err := fmt.Fprintf(out, "\n%s: %s, without the host, which waits for the GPU %.0f times.\n", what, kernels, waits)
	return err
}

func lasts(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}
