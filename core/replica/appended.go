package replica

import (
	"fmt"

	"pgrlab/core/run"
)

// The sections of what is observed: frames, or numbers, and what is kept of it for longer.
const (
	SectionFrames = "frames"
	SectionLooks  = "looks"
	SectionPinned = "pinned"
)

// Appended is a part of a replica that only grows: checkpoints share the log of its rows, and each
// holds how far the log had come.
type Appended struct {
	Name  string // of its section
	File  string // how the names of its files begin
	New   run.NewLog
	Rows  Rows // *replay.Ring or *experience.Log
	State any  // where it stands, to be encoded
}

// Rows are the rows of an Appended.
type Rows interface {
	// AppendSince appends the rows that were added after the first total ones.
	AppendSince(dst []byte, total uint64) []byte
	Total() uint64 // rows ever added
	First() uint64 // how many of them were added before the oldest one that is held
	RowBytes() int
}

// Ahead is how many bytes of frames there are to write after the first of each log's rows, totals of
// Appended, if that may as well be done before a checkpoint needs them: see (*experience.Log).Ahead.
func (o *Observed) Ahead(totals []uint64, least int) int {
	if o.of.sight == nil {
		return 0
	}
	return o.log.Ahead(totals[len(totals)-1], least)
}

// Appended returns D_real and, if the learner sees frames, the frames: always the same logs, in the
// same order. Frames are compressed, because much of a frame is as in the one before.
func (r *Replica) Appended() []Appended {
	all := []Appended{{r.Named(SectionReal), fmt.Sprintf("real-%d", r.Index), (*run.Folder).NewLog, r.Real, r.Real.State()}}
	if r.sight != nil {
		f := r.Observed.log
		all = append(all, Appended{r.Named(SectionFrames), fmt.Sprintf("frames-%d", r.Index), (*run.Folder).NewPackedLog, f, f.State()})
	}
	return all
}
