package command

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"pgrlab/core/bench"
	"pgrlab/presets"
)

func benchCommand(d Deps) *cobra.Command {
	var asJSON bool
	var threads, rounds int
	var name, precision string
	var round time.Duration
	c := &cobra.Command{
		Use:   "bench [WORKLOAD...]",
		Short: "how fast the core's training steps are on this machine",
		Long:  "bench times training steps and network calls at the sizes of quadruped-walk, batch\n256: the median over rounds, and the best. A machine that does other things at the\nsame time shows in the distance between the two; where a host gives its processors to\nother machines, a line says how much of them.\n\n" + workloadList(workloads(d)),
		Example: `  pgrlab bench
  pgrlab bench --threads 1 critic sac
  pgrlab bench --device cuda --precision bf16 denoiser-2048 sample-2048
  pgrlab bench --json > bench.jsonl`,
		RunE: func(c *cobra.Command, args []string) error {
			chosen, err := choose(workloads(d), args)
			if err != nil {
				return err
			}
			if round <= 0 {
				return usagef("bench: --round %v: want more than 0s", round)
			}
			if err := deviceFlag(name); err != nil {
				return asUsage(err)
			}
			where, err := d.find(name, precision)
			if err != nil {
				return asUsage(err)
			}
			say := func(text string) { fmt.Fprintln(c.ErrOrStderr(), text) }
			if where.said != "" {
				say(where.said)
			}
			dev, err := d.Device(where.request(threads, 0, say))
			if err != nil {
				return err
			}
			defer dev.Close()
			out, before := c.OutOrStdout(), demanded()
			if !asJSON {
				fmt.Fprintf(out, "%s\n%-18s %10s %10s %10s\n", dev.Name(), "WORKLOAD", "MEDIAN MS", "BEST MS", "GFLOP/S")
			}
			failed := 0
			for _, w := range chosen {
				r, err := bench.Run(c.Context(), w, dev, dev.Threads(), bench.Options{Rounds: rounds, Round: round})
				if c.Context().Err() != nil {
					return err
				}
				if err != nil { // one workload must not hide the others
					failed++
					if asJSON {
						err = json.NewEncoder(out).Encode(broken{w.Name, line(err)})
					} else {
						say(line(err))
						err = nil
					}
					if err != nil {
						return err
					}
					continue
				}
				if asJSON {
					err = json.NewEncoder(out).Encode(r)
				} else {
					_, err = fmt.Fprintf(out, "%-18s %10.4g %10.4g %10s\n", r.Workload, r.MS, r.BestMS, rate(r.GFLOPS))
				}
				if err != nil {
					return err
				}
			}
			if line := demanded().since(before); line != "" {
				say(line)
			}
			if failed > 0 {
				return fmt.Errorf("bench: %d of %d workloads failed: see above", failed, len(chosen))
			}
			return nil
		},
	}
	f := c.Flags()
	f.BoolVar(&asJSON, "json", false, "print one JSON object a line")
	countIn(f, &threads, "threads", 0, 0, mostThreads, "`N` threads to use, of which two train (default: all allowed, at most 8)")
	f.StringVar(&name, "device", "cpu", deviceUsage)
	f.StringVar(&precision, "precision", precisions[0], "`fp32|tf32|bf16` what a GPU rounds the factors of large products to")
	countVar(f, &rounds, "rounds", 5, 1, "`N` rounds for the median")
	f.DurationVar(&round, "round", time.Second, "`TIME` length of a round")
	return c
}

// broken is a workload that could not be timed.
type broken struct {
	Workload string `json:"workload"`
	Error    string `json:"error"`
}

// rate is empty for workloads whose operations are not counted.
func rate(gflops float64) string {
	if gflops == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", gflops)
}

// benchTask is the task whose steps are timed, where there is such a task.
const benchTask = "cheetah-run"

// workloads are those of the core and a step of the environment.
func workloads(d Deps) []bench.Workload {
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
			return nil, asUsage(presets.Unknown("workload", name, known, "pgrlab bench --help"))
		}
		chosen = append(chosen, w)
	}
	return chosen, nil
}
