package machine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pgrlab/core/bench"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
)

// Estimate is a request to count what a GPU would do in a run of a preset.
type Estimate struct {
	presets.Choice
	Precision string
	Without   string
	AsJSON    bool
	Out       io.Writer
	Say       func(line string)
}

// BenchCommand is bench; estimate is what it does with --estimate.
func BenchCommand(d cli.Deps, estimate func(context.Context, cli.Deps, Estimate) error) *cobra.Command {
	var asJSON, profile, products bool
	var threads, rounds int
	var name, precision string
	var off []string
	var round time.Duration
	var counting bool
	var counts Estimate
	c := &cobra.Command{
		Use:   "bench [WORKLOAD...]",
		Short: "time the core's training steps on this machine",
		Long: `Times training steps and network calls at the sizes of quadruped-walk with batch 256,
and prints the median over rounds and the best. The two lie far apart if the machine
does other things at the same time. If the host gives 2 % or more of the
processor time to other machines, a line says how much. Without names it leaves out the
largest workloads, which take long on a CPU: those on frames (encoder, drqv2, ppo-rgb84
and their variants), the largest samplers (sample-1024x100000, sample-2048x…, fit-release
and call-release…) and copy-800.

On the CPU it also prints the rates that the kernels reach in a product of 256×256×256
and in multiply-adds on registers alone, each times the number of threads that compute,
and the share of the latter that each workload reaches (of the former if the kernels
have no loop on registers). --products has workloads of its own: forward-RxIxO, dx-RxIxO
and dw-RxIxO for layers of R rows, I inputs and O outputs, from 256x1024x1024 to
4096x2048x2048.

--estimate times nothing and needs no GPU: it takes a run of a preset (a name, a file, or
--task, --method and --scale) through a few env steps with all their parts on a GPU that executes
nothing, and prints for each program the launches, the floating-point operations, the bytes and the uploads
of a run, the time of an H100 by a model, how often it runs in the whole training run, how often the
host waits for it, and its share of the whole. Random steps before the first update are not
counted; docs/evidence/gpu.md has the model beside measured times.

` + workloadList(Workloads(d)),
		Example: `  pgrlab bench
  pgrlab bench --threads 1 critic sac
  pgrlab bench --device cuda --precision bf16 denoiser-2048 sample-2048x4096
  pgrlab bench --profile denoiser-1024
  pgrlab bench --products
  pgrlab bench --device cuda --without sums,rows env-step
  pgrlab bench --device cuda --estimate --task cheetah-run --method pgr-curiosity --scale release
  pgrlab bench --json > bench.jsonl`,
		RunE: func(c *cobra.Command, args []string) error {
			say := func(text string) { fmt.Fprintln(c.ErrOrStderr(), text) }
			if err := switches(off); err != nil {
				return err
			}
			if !counting && counts.Choice != (presets.Choice{}) {
				return cli.Usagef("bench: --task, --method and --scale are for --estimate: without it, name workloads")
			}
			if counting {
				if c.Flags().Changed("device") && name != "cuda" {
					return cli.Usagef("bench: --estimate counts what a GPU would do: want --device cuda")
				}
				if len(args) > 1 {
					return cli.Usagef("bench: --estimate takes at most one preset: %s", strings.Join(args, " "))
				}
				counts.Preset = strings.Join(args, "")
				counts.Precision, counts.Without, counts.AsJSON, counts.Out, counts.Say = precision, strings.Join(off, ","), asJSON, c.OutOrStdout(), say
				return estimate(c.Context(), d, counts)
			}
			known, others := Workloads(d), bench.Products
			without := "a product of a large layer: add --products"
			if products {
				known, others, without = others, known, "no product of a large layer: leave --products out"
			}
			for _, name := range args {
				if _, is := bench.Find(others, name); is {
					return cli.Usagef("bench: %s is %s", name, without)
				}
			}
			chosen, err := choose(known, args)
			if err != nil {
				return err
			}
			if round <= 0 {
				return cli.Usagef("bench: --round %v: want more than 0s", round)
			}
			if profile && asJSON {
				return cli.Usagef("bench: --profile prints tables: without --json")
			}
			if err := DeviceFlag(name); err != nil {
				return cli.AsUsage(err)
			}
			find := chooseDevice // a request for a GPU's times is carried out as given
			if name == "auto" {
				find = FindDevice
			}
			where, err := find(d, name, precision, say)
			if err != nil {
				return cli.AsUsage(err)
			}
			if where.Said != "" {
				say(where.Said)
			}
			request := where.Request(threads, 0, say)
			request.Without = strings.Join(off, ",")
			dev, err := d.Device(request)
			if err != nil {
				return err
			}
			defer dev.Close()
			o := bench.Options{Rounds: rounds, Round: round}
			b := benching{out: c.OutOrStdout(), say: say, dev: dev, asJSON: asJSON, options: o}
			if profile {
				return b.each(c.Context(), chosen, b.profile)
			}
			before := demanded()
			if err := b.begin(c.Context()); err != nil {
				return err
			}
			err = b.each(c.Context(), chosen, b.time)
			if line := demanded().since(before); line != "" {
				say(line)
			}
			return err
		},
	}
	f := c.Flags()
	f.BoolVar(&asJSON, "json", false, "print one JSON object per line")
	f.BoolVar(&profile, "profile", false, "show where the time of each workload's program goes instead")
	f.BoolVar(&products, "products", false, "time matrix products of large layers instead, forward and backward, such as forward-256x1024x1024, dx-, dw-")
	f.BoolVar(&counting, "estimate", false, "count what a GPU would do in a run of a preset, without one")
	f.StringVar(&counts.Task, "task", "", "`T` task of --estimate (pgrlab list tasks)")
	f.StringVar(&counts.Method, "method", "", "`M` method of --estimate (pgrlab list methods)")
	f.StringVar(&counts.Scale, "scale", "", "`S` scale of --estimate (pgrlab list scales)")
	cli.CountIn(f, &threads, "threads", 0, 1, cli.MaxThreads, "`N` threads to use (default: all allowed, at most 8)")
	f.StringVar(&name, "device", "cpu", cli.DeviceUsage)
	f.StringVar(&precision, "precision", Precisions[0], "`fp32|tf32|bf16` precision to which a GPU rounds the factors of large products")
	f.StringSliceVar(&off, "without", nil, "`LIST` of what a GPU is not to do that saves launches, to see what it is worth: "+strings.Join(bench.Switches, ","))
	cli.CountVar(f, &rounds, "rounds", 5, 1, "`N` rounds for the median")
	f.DurationVar(&round, "round", time.Second, "`TIME` length of a round")
	return c
}

// switches returns an error if a name is none of bench.Switches.
func switches(names []string) error {
	for _, name := range names {
		if !slices.Contains(bench.Switches, name) {
			return cli.AsUsage(presets.Unknown("switch of --without", name, bench.Switches, "pgrlab bench --help"))
		}
	}
	return nil
}

// benching is one call of bench.
type benching struct {
	out     io.Writer
	say     func(line string)
	dev     cli.Device
	asJSON  bool
	options bench.Options
	peak    *bench.Peak // of the CPU; nil: another device
}

// begin measures what the CPU can do and writes the head of the table.
func (b *benching) begin(ctx context.Context) error {
	machine := ""
	var err error
	if b.peak, err = bench.PeakOf(ctx, b.dev, min(b.options.Round, time.Second)/4); err != nil {
		return err
	}
	if peak := b.peak; peak != nil {
		machine = fmt.Sprintf("; a product of 256×256×256 reaches %.1f GFLOP/s", peak.Product)
		if peak.Registers > 0 {
			machine += fmt.Sprintf(", multiply-adds on registers %.1f", peak.Registers)
		}
	}
	if b.asJSON {
		return nil
	}
	_, err = fmt.Fprintf(b.out, "%s%s\n%-*s %10s %10s %10s %8s\n", b.dev.Name(), machine, nameColumn, "WORKLOAD", "MEDIAN MS", "BEST MS", "GFLOP/S", "OF PEAK")
	return err
}

// each calls do with all workloads. It reports and counts a workload that fails: that must not hide
// the others.
func (b *benching) each(ctx context.Context, chosen []bench.Workload, do func(context.Context, bench.Workload) error) error {
	failed := 0
	for _, w := range chosen {
		err := do(ctx, w)
		if ctx.Err() != nil {
			return err
		}
		if err == nil {
			continue
		}
		failed++
		if b.asJSON {
			if err := json.NewEncoder(b.out).Encode(broken{w.Name, cli.Line(err)}); err != nil {
				return err
			}
			continue
		}
		b.say(cli.Line(err))
	}
	if failed > 0 {
		return fmt.Errorf("bench: %d of %d workloads failed: see above", failed, len(chosen))
	}
	return nil
}

// time writes how long one workload took.
func (b *benching) time(ctx context.Context, w bench.Workload) error {
	r, err := bench.Run(ctx, w, b.dev, b.dev.Threads(), b.options)
	if err != nil {
		return err
	}
	if r.GFLOPS > 0 {
		r = r.Against(b.peak)
	}
	if b.asJSON {
		return json.NewEncoder(b.out).Encode(r)
	}
	share := "-"
	if r.Share > 0 {
		share = fmt.Sprintf("%.0f%%", 100*r.Share)
	}
	_, err = fmt.Fprintf(b.out, "%-*s %10.4g %10.4g %10s %8s\n", nameColumn, r.Workload, r.MS, r.BestMS, rate(r.GFLOPS), share)
	return err
}

// nameColumn is the width of the column with the names.
const nameColumn = 24

// profileRuns is the number of runs from which a profile takes the shortest time of each part.
const profileRuns = 20

// profile writes where the time of one workload goes.
func (b *benching) profile(_ context.Context, w bench.Workload) error {
	text, err := w.Profile(b.dev, profileRuns)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(b.out, text)
	return err
}

// broken is a workload that could not be timed.
type broken struct {
	Workload string `json:"workload"`
	Error    string `json:"error"`
}

// rate is "-" for workloads whose operations are not counted.
func rate(gflops float64) string {
	if gflops == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", gflops)
}

// benchTask is the task whose steps are timed, if it exists.
const benchTask = "cheetah-run"

// Workloads are the workloads of the core and a step of the environment.
func Workloads(d cli.Deps) []bench.Workload {
	all := append([]bench.Workload(nil), bench.Workloads...)
	for _, t := range d.Tasks {
		if t.Name == benchTask {
			all = append(all, bench.Environment(t))
		}
	}
	return all
}

func workloadList(all []bench.Workload) string {
	text := "Workloads:"
	for _, w := range all {
		text += fmt.Sprintf("\n  %-18s %s", w.Name, w.Doc)
	}
	return text
}

// choose returns those named, or all.
func choose(all []bench.Workload, names []string) ([]bench.Workload, error) {
	if len(names) == 0 {
		return slices.DeleteFunc(slices.Clone(all), func(w bench.Workload) bool { return w.Large }), nil
	}
	var known []string
	for _, w := range all {
		known = append(known, w.Name)
	}
	var chosen []bench.Workload
	for _, name := range names {
		w, ok := bench.Find(all, name)
		if !ok {
			return nil, cli.AsUsage(presets.Unknown("workload", name, known, "pgrlab bench --help"))
		}
		chosen = append(chosen, w)
	}
	return chosen, nil
}
