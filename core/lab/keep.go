package lab

import (
	"fmt"

	"pgrlab/core/event"
	"pgrlab/core/knob"
)

// keepsHere says whether a checkpoint of this place is to stay on the disk.
func (k *checkpointer) keepsHere() bool {
	at := k.place.position
	return k.keepsStep() && at == knob.After(k.place.Step) && k.at != at && !k.lastStep.marked
}

// keepsStep says whether a checkpoint of this env step is to stay on the disk.
func (k *checkpointer) keepsStep() bool {
	every, step := k.config.Evaluation.KeepEvery, k.place.Step
	return every > 0 && step > 0 && k.config.Reaches(step, every)
}

// beforeChange takes a checkpoint before a change made by hand during the run, if the last one
// is old. It stays on the disk, so that the run can go back to its state before the change, or be forked
// there. One that is taken later in the same pause replaces it: its state is that before, but for what an
// undo puts back.
func (k *checkpointer) beforeChange() {
	switch {
	case k.writer == nil:
	case k.busy != nil: // of a place before the change
		k.busy.stays = true
	case k.now().Sub(k.last) >= changeAge:
		k.take(byChange)
	case k.path != "" && k.path != k.unchanged:
		k.unchanged = k.path
		if err := k.writer.Folder().Keep(k.path, byChange); err != nil {
			k.journal.emit(event.TypeNote, event.NoMember, event.Noted{Text: err.Error()})
		}
	}
}

// keepLast marks the last checkpoint as one that stays on the disk; it returns nil if there is
// none.
func (k *checkpointer) keepLast() *event.DivergedObs {
	if k.path == "" {
		return nil
	}
	if k.kept != k.path {
		if err := k.writer.Folder().Keep(k.path, fmt.Sprintf("before the fault at step %d", k.place.Step)); err != nil {
			k.journal.emit(event.TypeNote, event.NoMember, event.Noted{Text: err.Error()})
		}
		k.kept = k.path
	}
	return &event.DivergedObs{Checkpoint: k.path, Position: k.saved}
}
