// Package bench times the core's parts on this machine: the training steps and network calls of a
// run, on data of the same shapes.
package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"pgrlab/core/cost"
	"pgrlab/core/device"
	"pgrlab/core/plan"
)

// Workload is one thing to time.
type Workload struct {
	Name string
	Doc  string
	// Large workloads are timed only if they are named: they take a CPU minutes.
	Large bool
	// Make prepares the workload on a device. step is the function to time; flops is its number of
	// floating-point operations, or 0 if that number says nothing. If Make is nil, the workload is
	// the runs of Program.
	Make func(dev device.Device) (step func(i uint64) error, flops float64, err error)
	// Program builds a workload that is one program; nil if it is several programs.
	Program func(dev device.Device) (p *plan.Program, flops float64, err error)
}

// make prepares the workload; done releases what can be released.
func (w Workload) make(dev device.Device) (step func(i uint64) error, flops float64, done func() error, err error) {
	if w.Program == nil {
		step, flops, err = w.Make(dev)
		return step, flops, func() error { return nil }, err
	}
	p, flops, err := w.Program(dev)
	if err != nil {
		return nil, 0, nil, err
	}
	return p.Run, flops, p.Close, nil
}

// Profile says where the time of the workload's program goes, using each part's shortest time over
// a number of runs.
func (w Workload) Profile(dev device.Device, runs int) (text string, err error) {
	if w.Program == nil {
		return "", fmt.Errorf("profile %s: it is several programs: profile critic, denoiser-1024 or another of one", w.Name)
	}
	p, _, err := w.Program(dev)
	if err != nil {
		return "", fmt.Errorf("profile %s: %w", w.Name, err)
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	return p.Profile(0, runs)
}

// Result is the outcome of timing one workload.
type Result struct {
	Workload string  `json:"workload"`
	MS       float64 `json:"ms"`      // median over rounds of a step's mean
	BestMS   float64 `json:"best_ms"` // mean step time of the fastest round
	GFLOPS   float64 `json:"gflops"`  // at the median
	// CPUMS is the least processor time of a step, of all threads together. With one thread it is as
	// good on a busy machine. 0: unknown.
	CPUMS float64 `json:"cpu_ms,omitempty"`
	// Peak is the peak of the CPU, and Share is GFLOPS as a fraction of that peak. They are nil and
	// 0 on other devices and for workloads whose operations are not counted.
	Peak    *Peak   `json:"peak,omitempty"`
	Share   float64 `json:"share,omitempty"`
	Threads int     `json:"threads"`
	Device  string  `json:"device"`
}

// Against adds the share of a CPU's peak that the workload reached.
func (r Result) Against(p *Peak) Result {
	if p != nil && p.Most() > 0 {
		r.Peak, r.Share = p, r.GFLOPS/p.Most()
	}
	return r
}

// Options says how long to measure.
type Options struct {
	Rounds int           // 0: 5
	Round  time.Duration // 0: one second
}

// Find returns the workload with the given name.
func Find(all []Workload, name string) (Workload, bool) {
	i := slices.IndexFunc(all, func(w Workload) bool { return w.Name == name })
	if i < 0 {
		return Workload{}, false
	}
	return all[i], true
}

// Run times a workload: one warm-up round, in which a device finds out how many threads are best,
// then o.Rounds rounds of steps.
func Run(ctx context.Context, w Workload, dev device.Device, threads int, o Options) (r Result, err error) {
	if o.Rounds == 0 {
		o.Rounds = 5
	}
	if o.Round == 0 {
		o.Round = time.Second
	}
	step, flops, done, err := w.make(dev)
	if err != nil {
		return Result{}, fmt.Errorf("bench %s: %w", w.Name, err)
	}
	defer func() {
		if e := done(); err == nil && e != nil {
			err = fmt.Errorf("bench %s: %w", w.Name, e)
		}
	}()
	count := uint64(0)
	next := func() error {
		count++
		return step(count)
	}
	warm := time.Now()
	for i := 0; i == 0 || time.Since(warm) < o.Round; i++ {
		if err := context.Cause(ctx); err != nil {
			return Result{}, err
		}
		if err := next(); err != nil {
			return Result{}, fmt.Errorf("bench %s: %w", w.Name, err)
		}
	}
	var rounds []float64
	least := math.Inf(1)
	for range o.Rounds {
		steps, start := 0, time.Now()
		for time.Since(start) < o.Round || steps < 3 {
			if err := context.Cause(ctx); err != nil {
				return Result{}, err
			}
			before := cost.ProcessTime()
			if err := next(); err != nil {
				return Result{}, fmt.Errorf("bench %s: %w", w.Name, err)
			}
			least = min(least, (cost.ProcessTime()-before).Seconds()*1e3)
			steps++
		}
		rounds = append(rounds, time.Since(start).Seconds()*1e3/float64(steps))
	}
	slices.Sort(rounds)
	median := rounds[len(rounds)/2]
	return Result{Workload: w.Name, MS: median, BestMS: rounds[0], CPUMS: max(0, least), GFLOPS: flops / median / 1e6, Threads: threads, Device: dev.Name()}, nil
}
