package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// FramesState is the state of Frames, copy by copy; together with their log it restores them.
type FramesState struct{ Reels []ReelState }

// ReelState is the state of one copy's frames.
type ReelState struct {
	Total uint64 // frames ever added
	Held  int    // how many of them, the newest, are held
}

// A row of the log is a frame and how it came about: copy and kind (uint32 each); its number among
// the copy's frames, the number of its episode's first frame, and how many frames of all copies
// were added before it (uint64 each); the reward and the action that led to it (float32 each; 0 for
// an episode's first frame); its bytes. All numbers are little-endian. The rows of a copy are in
// its order.
const rowHead = 2*4 + 3*8 + 4

// The kinds of rows.
const (
	rowBegins   = iota // an episode
	rowFollows         // an env step
	rowEnds            // an env step to a true end
	rowRespawns        // an env step that put the agent elsewhere
)

// State returns the state of the frames.
func (f *Frames) State() FramesState {
	s := FramesState{make([]ReelState, len(f.reels))}
	for i := range f.reels {
		s.Reels[i] = ReelState{f.reels[i].total, len(f.reels[i].shots)}
	}
	return s
}

// Total is how many frames were ever added.
func (f *Frames) Total() uint64 { return f.total }

// RowBytes is the size of a row in a log.
func (f *Frames) RowBytes() int { return rowHead + 4*f.act + f.size }

// Ahead is how many bytes of a log the frames have that were added after the first total ones; 0 once a
// frame was forgotten, because then some of them may be forgotten before anybody asks for them.
func (f *Frames) Ahead(total uint64) int {
	for i := range f.reels {
		if f.reels[i].oldest() > 0 {
			return 0
		}
	}
	return int(f.total-min(total, f.total)) * f.RowBytes()
}

// AppendSince appends the rows of frames that were added after the first total ones. Frames
// that have been overwritten since are missing.
func (f *Frames) AppendSince(dst []byte, total uint64) []byte {
	fresh := make([]uint64, len(f.reels)) // the first of each reel
	rows := 0
	for i := range f.reels {
		r := &f.reels[i]
		for fresh[i] = r.total; fresh[i] > r.oldest() && r.shots[r.slot(fresh[i]-1)].Since >= total; fresh[i]-- {
			rows++
		}
	}
	if need := len(dst) + rows*f.RowBytes(); cap(dst) < need {
		dst = append(make([]byte, 0, need), dst...)
	}
	for i := range f.reels {
		for at := fresh[i]; at < f.reels[i].total; at++ {
			dst = f.appendRow(dst, i, at)
		}
	}
	return dst
}

func (f *Frames) appendRow(dst []byte, copy int, at uint64) []byte {
	r := &f.reels[copy]
	slot := r.slot(at)
	s := &r.shots[slot]
	kind, reward, action := uint32(rowBegins), float32(0), []float32(nil)
	if s.First < at {
		switch kind = rowFollows; {
		case s.Ended:
			kind = rowEnds
		case s.Respawned:
			kind = rowRespawns
		}
		if at > r.oldest() { // else the action that led to it is forgotten, and not needed
			before := r.slot(at - 1)
			reward, action = r.shots[before].Reward, r.action(f, before)
		}
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(copy))
	dst = binary.LittleEndian.AppendUint32(dst, kind)
	dst = binary.LittleEndian.AppendUint64(dst, at)
	dst = binary.LittleEndian.AppendUint64(dst, s.First)
	dst = binary.LittleEndian.AppendUint64(dst, s.Since)
	dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(reward))
	for k := range f.act {
		v := float32(0)
		if k < len(action) {
			v = action[k]
		}
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return append(dst, r.frame(f, slot)...)
}

// LoadLog restores frames of the same sizes and capacity to state s, from the log of everything
// that AppendSince wrote until then. After an error there are no frames.
func (f *Frames) LoadLog(src io.Reader, s FramesState) (err error) {
	defer func() {
		if err != nil {
			f.clear()
			err = fmt.Errorf("load frames: %w", err)
		}
	}()
	f.clear()
	if err := f.startIn(s); err != nil {
		return err
	}
	raw := make([]byte, f.RowBytes())
	for row := 0; ; row++ {
		switch _, err := io.ReadFull(src, raw); {
		case errors.Is(err, io.EOF):
			return f.standsIn(s)
		case err != nil:
			return fmt.Errorf("row %d: %w", row, err)
		}
		if err := f.addRow(raw, s); err != nil {
			return fmt.Errorf("row %d: %w", row, err)
		}
	}
}

// startIn prepares the reels for the frames that are held in s.
func (f *Frames) startIn(s FramesState) error {
	if len(s.Reels) != len(f.reels) {
		return fmt.Errorf("of %d copies, want %d", len(s.Reels), len(f.reels))
	}
	for i, is := range s.Reels {
		r := &f.reels[i]
		if full := is.Held == r.capacity; is.Held < 0 || is.Held > r.capacity || is.Total < uint64(is.Held) || !full && is.Total != uint64(is.Held) {
			return fmt.Errorf("copy %d: %d frames of %d, %d in all: that is no state of this memory", i, is.Held, r.capacity, is.Total)
		}
		r.startAt(f, is.Total-uint64(is.Held))
		f.total += r.total
	}
	return nil
}

// addRow adds the frame of a row, if it is held in s.
func (f *Frames) addRow(row []byte, s FramesState) error {
	copies, kind := binary.LittleEndian.Uint32(row), binary.LittleEndian.Uint32(row[4:])
	at, first := binary.LittleEndian.Uint64(row[8:]), binary.LittleEndian.Uint64(row[16:])
	since := binary.LittleEndian.Uint64(row[24:])
	if uint64(copies) >= uint64(len(f.reels)) {
		return fmt.Errorf("a frame of copy %d, of %d", copies, len(f.reels))
	}
	r, is := &f.reels[copies], s.Reels[copies]
	oldest := is.Total - uint64(is.Held)
	switch {
	case at < oldest: // it was forgotten
		return nil
	case at != r.total || at >= is.Total:
		return fmt.Errorf("frame %d of copy %d, want %d of %d", at, copies, r.total, is.Total)
	case kind > rowRespawns || first > at || (kind == rowBegins) != (first == at):
		return fmt.Errorf("frame %d of copy %d, of kind %d, in an episode from %d on", at, copies, kind, first)
	case kind != rowBegins && at > oldest && r.shots[r.slot(at-1)].First != first:
		return fmt.Errorf("frame %d of copy %d is of another episode than the one before", at, copies)
	}
	if kind != rowBegins && at > oldest {
		action := make([]float32, f.act)
		for k := range action {
			action[k] = math.Float32frombits(binary.LittleEndian.Uint32(row[rowHead+4*k:]))
		}
		r.follow(f, action, math.Float32frombits(binary.LittleEndian.Uint32(row[rowHead-4:])))
	}
	r.add(f, row[rowHead+4*f.act:], shot{First: first, Since: since, Ended: kind == rowEnds, Respawned: kind == rowRespawns})
	return nil
}

// standsIn returns an error unless the frames are those of s.
func (f *Frames) standsIn(s FramesState) error {
	for i, is := range s.Reels {
		if r := &f.reels[i]; r.total != is.Total {
			return fmt.Errorf("it ends behind frame %d of copy %d, want %d", r.total, i, is.Total)
		}
	}
	return nil
}
