package lab

import "pgrlab/core/knob"

// lastStep is what a checkpointer knows about the place from which a longer run goes on: in the
// last env step, before anything that only the end of a run does or omits.
type lastStep struct {
	marking  bool          // the run is to be saved there
	marked   bool          // the run was saved there, or could not be: see unsaved
	markedAt knob.Position // where that was; zero: an earlier process did it
	unsaved  error         // why it could not be saved; nil: it could
}

// onDisk says whether at is that place and is on the disk. Saving the run there again would only
// lose what a longer run needs.
func (l *lastStep) onDisk(at knob.Position) bool {
	return l.marked && at == l.markedAt && l.unsaved == nil
}

// behind says whether a run at position at is past that place, so that it has done or omitted
// what only the end of a run does or omits.
func (l *lastStep) behind(at knob.Position) bool { return l.marked && at != l.markedAt }

// mark saves the run where a longer one goes on, and waits until the checkpoint is on the disk.
// A run that was resumed at this place is on the disk already.
func (k *checkpointer) mark() {
	if at := k.place.position; k.writer != nil && k.saved != at {
		k.settle()
		if k.saved != at && !k.saveLastStep() {
			return
		}
	}
	k.lastStep.marking = false
}

// saveLastStep takes that checkpoint. It returns false while it waits for room on the disk.
func (k *checkpointer) saveLastStep() bool {
	if k.gate.disk != nil || len(k.journal.backlog) > 0 {
		return false
	}
	if k.lastStep.unsaved = k.take(byLastStep); k.busy == nil {
		return true // what went wrong has been reported
	}
	r := <-k.writer.Results()
	k.report(r)
	if k.gate.disk != nil {
		return false
	}
	k.lastStep.unsaved = r.Err
	return true
}
