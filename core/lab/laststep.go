package lab

import "pgrlab/core/knob"

// lastStep is what a checkpointer knows of the place where a longer run goes on: the last
// env step, before what only the end of a run has or lacks.
type lastStep struct {
	marking  bool          // the run is to be saved there
	marked   bool          // it was
	markedAt knob.Position // and there; zero: by an earlier process
	unsaved  error         // why it could not be; nil: it could
}

// onDisk says whether at is that place and on the disk: saving it once more there would
// only take away from what a longer run has.
func (l *lastStep) onDisk(at knob.Position) bool {
	return l.marked && at == l.markedAt && l.unsaved == nil
}

// behind says whether a run at that place has, or lacks, what only its end does.
func (l *lastStep) behind(at knob.Position) bool { return l.marked && at != l.markedAt }

// mark saves the run where a longer one goes on and waits until that is on the disk. A
// run that was resumed here is on the disk.
func (k *checkpointer) mark() {
	if at := k.place.position; k.writer != nil && k.saved != at {
		k.settle()
		if k.saved != at && !k.saveLastStep() {
			return
		}
	}
	k.lastStep.marking = false
}

// saveLastStep takes that checkpoint; false: it waits for room on the disk.
func (k *checkpointer) saveLastStep() bool {
	if k.gate.disk != nil || len(k.journal.backlog) > 0 {
		return false
	}
	k.take(byLastStep)
	if k.busy == nil {
		return true // it was said what is wrong
	}
	r := <-k.writer.Results()
	k.report(r)
	if k.gate.disk != nil {
		return false
	}
	k.lastStep.unsaved = r.Err
	return true
}
