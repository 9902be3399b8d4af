package cpu

import (
	"time"

	"pgrlab/core/device"
)

var _ device.Profiler = (*executable)(nil)

// Profile runs the program a number of times, by its caller alone, and returns the shortest time of
// every stage, in the order of execution.
func (x *executable) Profile(occasion uint64, runs int) ([]device.Timing, error) {
	var timings []device.Timing
	for _, segment := range x.stages {
		for _, s := range segment {
			timings = append(timings, device.Timing{Instr: s.instr, Name: s.name})
		}
	}
	for run := range runs {
		*x.occasion = occasion + uint64(run)
		x.guard.closed = false
		for _, f := range x.before {
			f()
		}
		at := 0
		for i := 0; i != over; i = x.job.after(i) {
			for _, s := range x.stages[i] {
				start := time.Now()
				for _, lane := range lanes() {
					s.run(lane)
				}
				took := time.Since(start)
				if t := &timings[at]; run == 0 || took < t.Took {
					t.Took = took
				}
				at++
			}
		}
		if x.guard.closed {
			return nil, x.diagnose()
		}
		for _, f := range x.after {
			f()
		}
	}
	return timings, nil
}
