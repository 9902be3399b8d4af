package lab

import (
	"cmp"

	"pgrlab/core/event"
)

// onDemand takes a checkpoint because someone asked for one.
func (k *checkpointer) onDemand(c event.Checkpoint) {
	by := cmp.Or(c.By, "command")
	if c.Ref != "" {
		k.refs = append(k.refs, c.Ref)
	}
	switch {
	case k.writer == nil:
		k.answer(by, "the run has no folder")
	case k.lastStep.onDisk(k.place.position):
		k.answer(by, "")
	default:
		k.take(by)
	}
}

// answer answers a request by the checkpoint that is on the disk, or says why there is none.
func (k *checkpointer) answer(by, why string) {
	obs := event.CheckpointObs{Path: k.path, Position: k.saved, By: by, Refs: k.refs, Error: why}
	if why != "" {
		obs.Path, obs.Position = "", k.place.position
	}
	k.journal.emit(event.TypeCheckpoint, event.NoMember, event.Checkpointed{Obs: obs})
	k.refs = nil
}

// answerRest answers the requests that wait, if any do, by the checkpoint that is on the disk.
func (k *checkpointer) answerRest(by string) {
	if len(k.refs) > 0 {
		k.answer(by, "")
	}
}
