package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
)

// DeviceGone ends a run whose device was lost, or lacks the memory that the run asks for. What
// the run has computed since the last checkpoint can no longer be read, so nothing more is
// saved. The run goes on from that checkpoint, on the same device once it works again, or on
// another one.
type DeviceGone struct {
	Err    error
	Saved  bool // there is a checkpoint
	Before knob.Position
}

func (e *DeviceGone) Error() string {
	if !e.Saved {
		return e.Err.Error() + ": nothing was saved before"
	}
	return fmt.Sprintf("%v: saved last at %s", e.Err, e.Before)
}

func (e *DeviceGone) Unwrap() error { return e.Err }

// deviceFailed is an error that says whether the device cannot go on.
type deviceFailed interface {
	error
	DeviceFailed() bool
}

// withoutDevice handles the error that ended the run. If the device failed, the last checkpoint
// is kept; and if someone may be watching, the run waits to be left: its results so far can be
// looked at, and nothing else can be done. A run without a terminal ends when the last screen goes.
func (ctl *control) withoutDevice(ctx context.Context, err error) error {
	if d := deviceFailed(nil); !errors.As(err, &d) || !d.DeviceFailed() {
		return err
	}
	ctl.checkpoints.settle() // what was copied before the device failed
	gone := &DeviceGone{Err: err}
	obs := ctl.checkpoints.keepLast()
	if obs != nil {
		gone.Saved, gone.Before = true, obs.Position
	}
	ctl.gate.gone = gone
	ctl.asides.dropAll(gone)
	if ctl.gate.failsOnFault() {
		return gone
	}
	ctl.gate.waitForPerson(gone.reason(), gone.Error())
	for more := true; more && ctl.gate.waits(ctx); {
		var c sent
		if c, more = ctl.awaitCommand(ctx); more && c.Command != nil {
			ctl.handleWithout(c)
		}
	}
	return gone
}

// reason says first what to do, because a line on a screen may be cut off.
func (e *DeviceGone) reason() string {
	if !e.Saved {
		return fmt.Sprintf("the device is gone: leave and begin again, elsewhere with --device cpu: %v", e.Err)
	}
	return fmt.Sprintf("the device is gone, saved at %s: leave; --resume goes on, elsewhere with --device cpu: %v", e.Before, e.Err)
}

// handleWithout carries out the commands that can be carried out without a device.
func (ctl *control) handleWithout(c sent) {
	refuse := func(ref, knob, value, by string) { ctl.journal.refuse(ref, knob, value, by, ctl.gate.gone) }
	switch c := c.Command.(type) {
	case event.SetKnob:
		refuse(c.ID, c.Knob, c.Value, c.By)
	case event.Undo:
		refuse(c.Ref, "", "", c.By)
	case event.Cancel:
		refuse(c.ID, c.Knob, c.Value, c.By)
	case event.Resume:
		refuse("", "resume", "", c.By)
	case event.Checkpoint:
		refuse("", "checkpoint", "", c.By)
	case event.HandOver:
		refuse(c.Ref, event.HandedOver, "", c.By)
	case event.Park:
		refuse("", "park", "", c.By)
	case event.Pause:
	default:
		ctl.handle(sent{Command: c})
		return
	}
	ctl.publish(time.Time{})
}
