package cpu

import (
	"runtime"
	"time"

	"pgrlab/core/device/adapt"
)

// task is a job that a device's workers do again and again.
type task struct {
	crew
	job   *job
	parts int  // of a lane, at most
	small bool // not worth a helper
	// choice is that of the task on workers of the device's own, shared on those of the
	// device that it is a part of.
	choice, shared adapt.Choice
}

// run keeps its thread: Go takes a goroutine off every ten milliseconds and lets it go
// on wherever a thread is free, which is another core as like as not, whose caches
// hold nothing of it. One worker gains an eighth.
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
