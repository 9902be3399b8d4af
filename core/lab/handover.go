package lab

import (
	"errors"

	"pgrlab/core/event"
)

// ErrHandedOver: Run saved and ended because of a HandOver.
var ErrHandedOver = errors.New("handed over to another process")

// handOver takes the last checkpoint of this process and waits until it is on the disk.
func (x *experiment) handOver(c event.HandOver) {
	if err := x.guarded(func() error { return x.saveToHandOver(c) }); err != nil {
		x.journal.refuse(c.Ref, event.HandedOver, "", c.By, err)
		return
	}
	x.gate.stopping, x.gate.handedOver = true, true
}

// saveToHandOver puts the checkpoint on the disk; an error means that the run is as it
// was.
func (x *experiment) saveToHandOver(c event.HandOver) error {
	k := x.checkpoints
	switch {
	case k == nil:
		return errors.New("the run has no folder")
	case x.gate.parked:
		return errParked
	}
	if k.busy != nil {
		x.saved(<-k.writer.Results())
	}
	x.emit(event.TypeDetached, event.NoMember, event.View{By: c.By, Reason: event.HandedOver})
	if len(x.journal.backlog) > 0 {
		return errors.New("save run: the disk does not take the journal")
	}
	if x.onDisk() {
		return nil
	}
	copied, err := x.capture(event.HandedOver)
	if err != nil {
		return err
	}
	k.last = x.now()
	k.submit(copied)
	r := <-k.writer.Results()
	if r.Err != nil {
		x.saved(r)
		return r.Err
	}
	k.busy, k.totals, k.path, k.saved, k.at = nil, r.Totals, r.Path, copied.position, copied.position
	return nil
}
