package lab

import (
	"errors"
	"fmt"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/run"
)

const (
	// diskEvery is how often a run tries again what the disk did not take.
	diskEvery = 5 * time.Second
	// diskPatience is how long a run that nobody watches does so where the disk is
	// not full but broken, gone or read-only, before it ends.
	diskPatience = 10 * time.Minute
)

// diskWait is what training waits for while the disk does not take the journal, or
// has no room for a checkpoint.
type diskWait struct {
	since time.Time
	err   error
	pause *event.Paused // the pause that it made; nil: there was one already
}

// waitForDisk makes training wait until the disk takes what it did not. Nothing is
// computed meanwhile and the lines stay in their order.
func (x *experiment) waitForDisk(err error) {
	if errors.Is(err, run.ErrLost) { // for good
		x.journal.broken, x.pause = fmt.Errorf("step %d: %w", x.Step, err), nil
		return
	}
	if x.disk == nil {
		x.disk = &diskWait{since: x.now()}
	}
	d := x.disk
	d.err = err
	if x.ending {
		return
	}
	reason := fmt.Sprintf("%s: training tries again every %s", err, diskEvery)
	if run.IsFull(err) {
		reason = fmt.Sprintf("%s: training waits for room", err)
	}
	switch {
	case x.pause == nil:
		x.wait(event.Paused{Reason: reason}) // whose line is refused as well, and waits behind the others
		d.pause = x.pause
	case x.pause == d.pause && d.pause.Reason != reason: // the disk has something else now
		d.pause.Reason = reason
		x.publish(time.Time{})
	}
}

// tryDisk tries again what the disk did not take, and training goes on if it takes
// it and nobody else wants it to wait.
func (x *experiment) tryDisk() {
	if len(x.journal.backlog) > 0 {
		x.flush()
	}
	k, d := x.checkpoints, x.disk
	switch {
	case len(x.journal.backlog) > 0:
		x.losePatience()
	case k != nil && k.busy != nil:
	case k != nil && k.asked != "":
		x.checkpoint(k.asked) // the next look sees what became of it
	case x.pause == d.pause:
		by := "the disk takes it again"
		if run.IsFull(d.err) {
			by = "room on the disk"
		}
		x.resume(event.Resume{By: by})
	default:
		x.disk = nil
	}
}

// losePatience ends a run that nobody watches: a full disk is somebody's to clear, a
// broken one will not mend itself for ever.
func (x *experiment) losePatience() {
	d := x.disk
	if run.IsFull(d.err) || Fault(x.journal.onFault.Load()) != FaultFail || x.now().Sub(d.since) < diskPatience {
		return
	}
	x.journal.broken = fmt.Errorf("step %d: %w: for %s", x.Step, d.err, x.now().Sub(d.since).Round(time.Second))
	x.pause = nil
}
