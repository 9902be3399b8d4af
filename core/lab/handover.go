package lab

import (
	"errors"

	"pgrlab/core/event"
)

// ErrHandedOver says that Run saved and ended because of a HandOver.
var ErrHandedOver = errors.New("handed over to another process")

// handOver takes the last checkpoint of this process and waits until it is on the disk.
func (ctl *control) handOver(c event.HandOver) {
	if err := ctl.place.guarded(func() error { return ctl.checkpoints.handOver(c.By) }); err != nil {
		ctl.journal.refuse(c.Ref, event.HandedOver, "", c.By, err)
		return
	}
	ctl.gate.stopping, ctl.gate.handedOver = true, true
}
