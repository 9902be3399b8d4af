// Package bench times the core's parts on this machine: the training steps and
// network calls that a run consists of, on data that has their shapes.
package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"pgrlab/core/device"
	"pgrlab/core/plan"
)

// Workload is one thing to time.
type Workload struct {
	Name string
	Doc  string
	// Large workloads take a CPU minutes, or, those on images, run on CPUs alone: they are
	// timed where they are named.
	Large bool
	// Make prepares the workload on a device. step is what is timed; flops is
	// its count of floating-point operations, 0 where that says nothing. nil: it is
	// the runs of Program.
	Make func(dev device.Device) (step func(i uint64) error, flops float64, err error)
	// Program is what a workload of one program runs; nil: it is several.
	Program func(dev device.Device) (p *plan.Program, flops float64, err error)
}

// make prepares the workload; done gives back what can be given back.
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

// Profile says where the time of the workload's program goes, on the shortest of some
// runs of each part.
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

// Result is what one workload took.
type Result struct {
	Workload string  `json:"workload"`
	MS       float64 `json:"ms"`      // median over rounds of a step's mean
	BestMS   float64 `json:"best_ms"` // of the fastest round
	GFLOPS   float64 `json:"gflops"`  // at the median
	// Peak is that of the CPU and Share what GFLOPS is of the most it can do; nil and 0 of
	// other devices and of workloads whose operations are not counted.
	Peak    *Peak   `json:"peak,omitempty"`
	Share   float64 `json:"share,omitempty"`
	Threads int     `json:"threads"`
	Device  string  `json:"device"`
}

// Against adds what the workload reached of a CPU's peak.
func (r Result) Against(p *Peak) Result {
	if p != nil && p.Most() > 0 {
		r.Peak, r.Share = p, r.GFLOPS/p.Most()
	}
	return r
}

// Options say how long to measure.
type Options struct {
	Rounds int           // 0: 5
	Round  time.Duration // 0: one second
}

// Find returns the workload of that name among some.
func Find(all []Workload, name string) (Workload, bool) {
	i := slices.IndexFunc(all, func(w Workload) bool { return w.Name == name })
	if i < 0 {
		return Workload{}, false
	}
	return all[i], true
}

// Run times a workload: a round to warm up, in which a device finds out how many
// threads are best, then rounds of steps.
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
	for range o.Rounds {
		steps, start := 0, time.Now()
		for time.Since(start) < o.Round || steps < 3 {
			if err := context.Cause(ctx); err != nil {
				return Result{}, err
			}
			if err := next(); err != nil {
				return Result{}, fmt.Errorf("bench %s: %w", w.Name, err)
			}
			steps++
		}
		rounds = append(rounds, time.Since(start).Seconds()*1e3/float64(steps))
	}
	slices.Sort(rounds)
	median := rounds[len(rounds)/2]
	return Result{Workload: w.Name, MS: median, BestMS: rounds[0], GFLOPS: flops / median / 1e6, Threads: threads, Device: dev.Name()}, nil
}
