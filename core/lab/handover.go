package lab

import (
	"errors"

	"pgrlab/core/event"
)

// ErrHandedOver: Run saved and ended because of a HandOver.
var ErrHandedOver = errors.New("handed over to another process")

// handOver takes the last checkpoint of this process and waits until it is on the disk.
func (x *experiment) handOver(c event.HandOver) {
	if err := x.guarded(func() error { return x.checkpoints.handOver(c.By) }); err != nil {
		x.journal.refuse(c.Ref, event.HandedOver, "", c.By, err)
		return
	}
	x.gate.stopping, x.gate.handedOver = true, true
}
