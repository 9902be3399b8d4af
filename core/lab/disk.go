package lab

import (
	"pgrlab/core/event"
	"pgrlab/core/run"
)

// tryDisk tries again what the disk did not take, and training goes on if it takes
// it and nothing else makes it wait.
func (x *experiment) tryDisk() {
	if len(x.journal.backlog) > 0 {
		x.journal.flush()
	}
	k, d := &x.checkpoints, x.gate.disk
	switch {
	case len(x.journal.backlog) > 0:
		x.gate.losePatience()
	case k.busy != nil:
	case k.asked != "":
		k.take(k.asked) // the next look sees what became of it
	case x.gate.pause == d.pause:
		by := "the disk takes it again"
		if run.IsFull(d.err) {
			by = "room on the disk"
		}
		x.resume(event.Resume{By: by})
	default:
		x.gate.disk = nil
	}
}
