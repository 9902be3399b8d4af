package analyse

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"pgrlab/core/config"
	"pgrlab/core/cost"
	"pgrlab/core/event"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/offline"
	"pgrlab/core/printable"
	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/terminal"
)

// refitFlags are the flags of analyse --refit.
type refitFlags struct {
	set       []string
	guidances []float64
	heldOut   float64
	rows      int // --rows, if given
}

// refitRows is how many transitions a generation of analyse --refit has without --rows.
const refitRows = 4096

// RefitKnobs are the knobs that affect a refit and its generations.
var RefitKnobs = []string{"relevance", "top_fraction", "sampler_steps", "s_churn", "generator_steps", "lr_generator", "p_uncond"}

func (r *refitFlags) bind(f *pflag.FlagSet, refits *bool) {
	f.BoolVar(refits, "refit", false, "fit a generator to the real transitions, and evaluate it")
	f.StringArrayVar(&r.set, "set", nil, "`KEY=VALUE` with --refit or --what-if: a knob of refits, or a key of config.toml such as generator.width; repeatable")
	f.Float64SliceVar(&r.guidances, "guidance", []float64{0, 1, 2}, "`ω[,ω…]` with --refit or --what-if: guidance of the generations")
	f.Lookup("guidance").DefValue = "0,1,2" // without the zeros of floats
	f.Float64Var(&r.heldOut, "held-out", 0.1, "`SHARE` with --refit: share of the real transitions to hold out of the fit")
}

// flags refuses combinations that make no sense.
func (r *refitFlags) flags(f *pflag.FlagSet, refits bool, rows int) error {
	own, others := []string{"set", "guidance", "held-out"}, []string{"relevance-from", "journal", "points", "tsne", "out", "timeout"}
	if !refits {
		for _, name := range own {
			if f.Changed(name) {
				return cli.Usagef("analyse: --%s is about another generator: add --refit or --what-if", name)
			}
		}
		return nil
	}
	for _, name := range others {
		if f.Changed(name) {
			return cli.Usagef("analyse: --%s does not go with --refit: leave one of them out", name)
		}
	}
	r.rows = refitRows
	if f.Changed("rows") {
		r.rows = rows
	}
	if err := eachOnce("guidance", r.guidances); err != nil {
		return cli.Usagef("analyse: --guidance: %w", err)
	}
	if !(r.heldOut > 0 && r.heldOut < 1) {
		return cli.Usagef("analyse: --held-out %g: want a share between 0 and 1", r.heldOut)
	}
	return nil
}

// of is the generator that is asked for beside that of a run with the given configuration.
func (r *refitFlags) of(c config.Config) (offline.OtherGenerator, error) {
	var none offline.OtherGenerator
	set := map[string]string{}
	for _, text := range r.set {
		key, value, given := strings.Cut(text, "=")
		if !given {
			return none, cli.Usagef("analyse: --set %s: want KEY=VALUE", text)
		}
		if strings.HasPrefix(key, "generator.") {
			if err := presets.Set(&c, key, value); err != nil {
				return none, cli.Usagef("analyse: --set %s: %w", text, err)
			}
			continue
		}
		k, err := knob.Find(key)
		if err != nil {
			return none, cli.Usagef("analyse: --set %s: %w", text, err)
		}
		if !slices.Contains(RefitKnobs, k.Name) {
			return none, cli.Usagef("analyse: --set %s: a refit does not use it: want %s, or generator.KEY; for ω --guidance", text, strings.Join(RefitKnobs, ", "))
		}
		if _, err := k.Parse(value); err != nil {
			return none, cli.Usagef("analyse: --set %s: %w", text, err)
		}
		set[k.Name] = value
	}
	for _, text := range r.set {
		key, _, _ := strings.Cut(text, "=")
		if k, err := knob.Find(key); err == nil && k.Use&knob.UseFit != 0 && c.Has()&knob.UseFit == 0 {
			return none, cli.Usagef("analyse: --set %s: generator %s makes no gradient steps", text, c.Generator.Kind)
		}
	}
	return offline.OtherGenerator{Generator: c.Generator, Set: set}, nil
}

// refitAll refits a generator to each run folder in turn.
func (r *analyseRequest) refitAll(ctx context.Context, d cli.Deps, args []string, stdout, stderr io.Writer) error {
	saved := make([]offline.Run, len(args))
	for i, arg := range args {
		var err error
		if saved[i], err = r.saved(arg, "analyse"); err != nil {
			return err
		}
	}
	task, err := d.TaskIn(saved[0].Dir, saved[0].Config.Task, saved[0].Config.Environment)
	if err != nil {
		return err
	}
	other, err := r.refit.of(saved[0].Config)
	if err != nil {
		return err
	}
	device, err := d.Device(cli.DeviceRequest{Threads: r.threads})
	if err != nil {
		return fmt.Errorf("start device: %w", err)
	}
	defer device.Close()
	ctx, stop := untilSignal(ctx)
	defer stop()
	p := refitProgress{Progress: terminal.NewProgress(stderr), saved: len(saved)}
	asked := offline.RefitRequest{OtherGenerator: other, OfflineRefit: inspect.OfflineRefit{
		Guidances: r.refit.guidances, Rows: r.refit.rows, HeldOut: r.refit.heldOut, Clock: cost.ProcessTime,
	}}
	asked.Progress = func(now inspect.OfflineProgress) error { p.show(now, time.Now()); return nil }
	return offline.Refit(ctx, saved, task, device, asked, func(found *inspect.Refitted) error {
		p.Clear()
		if r.json || !terminal.IsTerminal(stdout) {
			return json.NewEncoder(stdout).Encode(found)
		}
		return writeRefit(stdout, found)
	})
}

// untilSignal returns a context that a signal ends.
func untilSignal(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case s := <-signals:
			cancel(cli.Signalled{Signal: s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}

// refitProgress shows the progress of a refit.
type refitProgress struct {
	*terminal.Progress
	saved int

	doing string
	begun time.Time // of that
	shown time.Time
}

func (p *refitProgress) show(now inspect.OfflineProgress, at time.Time) {
	if doing := fmt.Sprint(now.Saved, now.Doing); doing != p.doing {
		p.doing, p.begun = doing, at
	}
	if at.Sub(p.shown) < p.Every() {
		return
	}
	p.shown = at
	text := fmt.Sprintf("step %d  %s", now.Step, now.Doing)
	if p.saved > 1 {
		text = fmt.Sprintf("%d of %d  %s", now.Saved+1, p.saved, text)
	}
	if now.Of > 0 {
		text += fmt.Sprintf("  %d/%d", now.Done, now.Of)
	}
	if now.Done > 0 && now.Done < now.Of {
		left := time.Duration(float64(at.Sub(p.begun)) * float64(now.Of-now.Done) / float64(now.Done)) // the product may exceed 64 bits
		text += "  eta " + terminal.Clock(left)
	}
	p.Rewrite(text)
}

// writeRefit writes a table of the measures, with a column for each generation.
func writeRefit(w io.Writer, f *inspect.Refitted) error {
	steps, loss := "a fit without gradient steps", ""
	if f.Steps > 0 {
		steps = fmt.Sprintf("%d steps", f.Steps)
	}
	if f.Loss != nil {
		loss = fmt.Sprintf("loss %.3g, ", *f.Loss)
	}
	fmt.Fprintf(w, "%s at step %d: %s on %d real transitions, %d held out; %s%.1f s of processor time\n",
		printable.Line(f.Task), f.Step, steps, f.Fitted, f.HeldOut, loss, f.CPUs)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\tGaussian\t")
	for _, g := range f.Made {
		fmt.Fprintf(t, "ω %g\t", g.Guidance)
	}
	fmt.Fprintln(t)
	for _, m := range refitMeasures(f) {
		fmt.Fprintf(t, "%s\t%s\t", m.name, m.base)
		for _, g := range f.Made {
			fmt.Fprintf(t, "%s\t", m.of(g))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// refitMeasure is a line of the table.
type refitMeasure struct {
	name, base string // of a Gaussian
	of         func(*inspect.RefitGeneration) string
}

func refitMeasures(f *inspect.Refitted) []refitMeasure {
	ratio := func(v run.Float) string { return fmt.Sprintf("%.3g", v) }
	share := func(v run.Float) string { return fmt.Sprintf("%.1f %%", 100*v) }
	dynamics := func(name string, text func(*event.Dynamics) string) refitMeasure {
		m := refitMeasure{name: name, of: func(g *inspect.RefitGeneration) string {
			if g.Dynamics == nil {
				return ""
			}
			return text(g.Dynamics)
		}}
		if f.Gaussian != nil {
			m.base = text(f.Gaussian)
		}
		return m
	}
	upper := func(name string, text func(*inspect.RefitUpper) string) refitMeasure {
		return refitMeasure{name: name, of: func(g *inspect.RefitGeneration) string {
			if g.Relevant == nil {
				return ""
			}
			return text(g.Relevant)
		}}
	}
	found := func(d *event.Detection) string {
		if d == nil {
			return ""
		}
		return fmt.Sprintf("%.2f / %.2f", d.Precision, d.Recall)
	}
	return []refitMeasure{
		dynamics("error of s' over Var(s' - s)", func(d *event.Dynamics) string { return ratio(d.Change) }),
		dynamics("the best constant change", func(d *event.Dynamics) string { return ratio(d.ConstantChange) }),
		dynamics("error of s' over Var(s')", func(d *event.Dynamics) string { return ratio(d.Relative) }),
		dynamics("error of r over Var(r)", func(d *event.Dynamics) string { return ratio(d.RewardRelative) }),
		dynamics("the best constant reward", func(d *event.Dynamics) string { return ratio(d.ConstantReward) }),
		dynamics("rare rewards, precision / recall", func(d *event.Dynamics) string { return found(d.RareRewards) }),
		dynamics("ends, precision / recall", func(d *event.Dynamics) string { return found(d.Ends) }),
		upper("rows in the top quarter of true F", func(u *inspect.RefitUpper) string { return share(u.Share) }),
		upper("their error of s' over Var(s' - s)", func(u *inspect.RefitUpper) string { return ratio(u.Change) }),
		upper("their error of r over Var(r)", func(u *inspect.RefitUpper) string { return ratio(u.RewardRelative) }),
		{"held-out rows covered", "", func(g *inspect.RefitGeneration) string { return share(g.Coverage) }},
		{"the same by real rows", share(f.Covering), func(*inspect.RefitGeneration) string { return "" }},
		{"copies", "", func(g *inspect.RefitGeneration) string { return share(g.Copies) }},
		{"processor time, s", "", func(g *inspect.RefitGeneration) string { return fmt.Sprintf("%.1f", g.CPUs) }},
	}
}
