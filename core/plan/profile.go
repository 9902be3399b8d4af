package plan

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"pgrlab/core/device"
)

// Profile runs the program a number of times, starting at the given occasion, and returns its parts
// in the order of execution, each with its shortest time and its arithmetic rate. These runs are
// ordinary ones: an optimiser steps.
func (p *Program) Profile(occasion uint64, runs int) (string, error) {
	profiler, ok := p.exec.(device.Profiler)
	if !ok {
		return "", fmt.Errorf("profile %s: its device cannot say where time goes", p.Name)
	}
	timings, err := profiler.Profile(occasion, runs)
	if err != nil {
		if where, ok := err.(*device.NotFinite); ok {
			return "", p.notFinite(where)
		}
		return "", fmt.Errorf("profile %s: %w", p.Name, err)
	}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 8, 2, ' ', tabwriter.AlignRight)
	flops, total := p.work(), 0.0
	for _, t := range timings {
		us, what, rate := t.Took.Seconds()*1e6, "", ""
		total += us
		if t.Instr >= 0 {
			in := p.code.Instrs[t.Instr]
			what = p.describe(in.Out)
			rate = fmt.Sprintf("%.1f GFLOP/s", float64(flops[t.Instr])/us/1e3)
		}
		fmt.Fprintf(w, "%d\t%.1f µs\t%s\t\t%s %s\n", t.Instr, us, rate, t.Name, what)
	}
	w.Flush()
	return fmt.Sprintf("%s: %.1f µs, one part after the other\n%s", p.Name, total, text.String()), nil
}

// work returns the arithmetic of every instruction, including that of the instructions fused into
// it.
func (p *Program) work() []int {
	flops := make([]int, len(p.code.Instrs))
	var into []int
	if o, known := p.exec.(device.Outliner); known {
		into = o.Outline().Into
	}
	for i, in := range p.code.Instrs {
		by := i
		if into != nil {
			by = into[i]
		}
		flops[by] += p.code.FLOPs(in)
	}
	return flops
}
