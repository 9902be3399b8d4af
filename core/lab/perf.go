package lab

import (
	"time"

	"pgrlab/core/event"
	"pgrlab/core/run"
)

// standing is how far a run has come, and in how much time since the last line perf.
type standing struct {
	step    int
	updates uint64
	spent   time.Duration
}

// standing returns how far the run has come.
func (x *experiment) standing() standing {
	s := standing{step: x.Step, updates: x.first().Updates}
	for _, d := range x.meter.State().Parts {
		s.spent += d
	}
	return s
}

// perf returns how fast the run was since the last line perf, or since the run was resumed, and what
// it takes. It comes after an evaluation, and often after a refit as well, so that the rates of the
// last seconds, which screens show, would tell nothing.
func (x *experiment) perf() event.Perf {
	now := x.standing()
	p := x.meter.Perf(&x.Settings)
	if took := (now.spent - x.reported.spent).Seconds(); took > 0 {
		p.StepsPerSec = run.Float(float64(now.step-x.reported.step) / took)
		p.UpdatesPerSec = run.Float(float64(now.updates-x.reported.updates) / took)
	}
	now.spent = 0 // Perf has begun to count anew
	x.reported = now
	if d, has := x.parts.device.(interface{ Taken() uint64 }); has { // a GPU
		p.DeviceBytes = d.Taken()
	}
	return p
}
