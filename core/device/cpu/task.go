package cpu

import (
	"runtime"
	"time"

	"pgrlab/core/device/adapt"
)

// task is a job that a device's workers do repeatedly.
type task struct {
	crew
	job   *job
	parts int  // of a lane, at most
	small bool // not worth a helper
	// choice is the task's choice on the device's own workers, shared its choice on the workers of
	// the device that this one is a part of.
	choice, shared adapt.Choice
}

// run locks its goroutine to its thread. Go interrupts a goroutine every ten milliseconds and
// resumes it on any free thread, which is often on another core whose caches hold none of its data.
// One worker gains an eighth from the lock.
func (t *task) run() {
	if t.small {
		t.job.alone()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p, choice := t.pool, &t.choice
	if t.lent != nil && t.lent.Load() {
		p, choice = t.whole, &t.shared
	}
	if p.workers == 1 {
		t.job.alone()
		return
	}
	choice.Pairs = t.parts > 1
	start := time.Now()
	switch choice.Choose() {
	case adapt.Alone:
		t.job.alone()
	case adapt.Pair:
		p.run(t.job, 1)
	default:
		p.run(t.job, t.parts)
	}
	choice.Record(time.Since(start))
}
