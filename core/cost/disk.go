package cost

import (
	"time"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// checkpointsKept is about how many checkpoints lie in a run folder: the last three and the best.
const checkpointsKept = 4

// Disk is how many bytes a run takes on the disk.
type Disk struct {
	Checkpoint int64 // of one checkpoint, without what it shares
	Generation int64 // of a D_syn; there are as many as checkpoints at most
	Real       int64 // of all rows that D_real ever has, and of all frames
	Held       int64 // of those that it has at a time: a checkpoint adds no more
}

// Total is the whole run folder, however often it is saved.
func (d Disk) Total() int64 {
	return checkpointsKept*(d.Checkpoint+d.Generation) + min(d.Real, checkpointsKept*d.Held+run.PieceBytes)
}

// After is the run folder after that many checkpoints. Rows that none of those kept needs leave the disk
// file by file.
func (d Disk) After(checkpoints int) int64 {
	if checkpoints > checkpointsKept {
		return d.Total()
	}
	n := int64(checkpoints)
	return n*(d.Checkpoint+d.Generation) + min(d.Real, n*d.Held)
}

// CheckpointEvery is the time between two checkpoints of a run that is asked for no other.
const CheckpointEvery = 5 * time.Minute

// Checkpoints is how many checkpoints a run of c makes that takes that long: one every
// CheckpointEvery, one at its end, and those that evaluation.keep_every asks for.
func Checkpoints(c *config.Config, lasts time.Duration) int {
	n := 1 + int(lasts/CheckpointEvery)
	if c.Evaluation.KeepEvery > 0 {
		n += c.Steps / c.Evaluation.KeepEvery
	}
	return n
}

// Stored is how many rows D_real gets in the whole run, under s: if the learner makes D_real again, all
// of its rows at each refit.
func Stored(c *config.Config, s *knob.Settings) (rows int) {
	if !c.Fills() {
		return c.Steps
	}
	_, rows = refits(c, s, 0)
	return rows
}
