package experience

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// LogState is the state of a Log, copy by copy; together with its rows it restores it.
type LogState struct{ Reels []ReelState }

// ReelState is the state of one copy's looks.
type ReelState struct {
	Total uint64 // looks ever added
	Held  int    // how many of them, the newest, are held
}

// A row is a look and how it came about: copy and kind (uint32 each); its number among the copy's
// looks, the number of its episode's first look, and how many looks of all copies were added before
// it (uint64 each); the reward and the action that led to it (float32 each; 0 for an episode's first
// look); if the log has columns of env steps, its arrival; its numbers or bytes. All numbers are
// little-endian. The rows of a copy are in its order.
const rowHead = 2*4 + 3*8 + 4

// The kinds of rows.
const (
	rowBegins   = iota // an episode
	rowFollows         // an env step
	rowEnds            // an env step to a true end
	rowRespawns        // an env step that put the agent elsewhere
)

// State returns the state of the log.
func (l *Log) State() LogState {
	s := LogState{make([]ReelState, len(l.reels))}
	for i := range l.reels {
		s.Reels[i] = ReelState{l.reels[i].total, l.reels[i].held()}
	}
	return s
}

// Total is how many looks were ever added.
func (l *Log) Total() uint64 { return l.total }

// First is how many looks were added before the oldest one that is held.
func (l *Log) First() uint64 {
	first := l.total
	for i := range l.reels {
		if r := &l.reels[i]; r.held() > 0 {
			first = min(first, r.shots[r.slot(r.first)].Since)
		}
	}
	return first
}

// RowBytes is the size of a row.
func (l *Log) RowBytes() int {
	return l.arrivalAt() + l.arrivalBytes() + 4*l.shape.Numbers + l.shape.Bytes
}

// arrivalAt is where the arrival in a row begins.
func (l *Log) arrivalAt() int { return rowHead + 4*l.shape.Act }

func (l *Log) arrivalBytes() int {
	if l.keep.Steps == 0 {
		return 0
	}
	return binary.Size(arrival{})
}

// Ahead is how many bytes of a log the looks have that were added after the first total ones, if they may
// as well be written now. Once looks are forgotten, that is if least bytes of them are held: of a shorter
// log most may be forgotten before a checkpoint needs them.
func (l *Log) Ahead(total uint64, least int) int {
	if l.First() > 0 && l.Len()*l.RowBytes() < least {
		return 0
	}
	return int(l.total-min(total, l.total)) * l.RowBytes()
}

// AppendSince appends the rows of looks that were added after the first total ones. Looks that have
// been overwritten since are missing.
func (l *Log) AppendSince(dst []byte, total uint64) []byte {
	fresh := make([]uint64, len(l.reels)) // the first of each reel
	rows := 0
	for i := range l.reels {
		r := &l.reels[i]
		for fresh[i] = r.total; fresh[i] > r.first && r.shots[r.slot(fresh[i]-1)].Since >= total; fresh[i]-- {
			rows++
		}
	}
	if need := len(dst) + rows*l.RowBytes(); cap(dst) < need {
		dst = append(make([]byte, 0, need), dst...)
	}
	for i := range l.reels {
		for at := fresh[i]; at < l.reels[i].total; at++ {
			dst = l.appendRow(dst, i, at)
		}
	}
	return dst
}

func (l *Log) appendRow(dst []byte, copy int, at uint64) []byte {
	r := &l.reels[copy]
	slot := r.slot(at)
	s := &r.shots[slot]
	kind, reward, action := uint32(rowBegins), float32(0), make([]float32, l.shape.Act)
	if s.First < at {
		switch kind = rowFollows; {
		case s.Ended:
			kind = rowEnds
		case s.Respawned:
			kind = rowRespawns
		}
		if at > r.first { // else the action that led to it is forgotten, and not needed
			before := r.slot(at - 1)
			reward, action = r.shots[before].Reward, r.action(l, before)
		}
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(copy))
	dst = binary.LittleEndian.AppendUint32(dst, kind)
	dst = binary.LittleEndian.AppendUint64(dst, at)
	dst = binary.LittleEndian.AppendUint64(dst, s.First)
	dst = binary.LittleEndian.AppendUint64(dst, s.Since)
	dst = appendNumbers(dst, reward)
	dst = appendNumbers(dst, action...)
	if l.keep.Steps > 0 {
		dst, _ = binary.Append(dst, binary.LittleEndian, &r.arrivals[slot]) // of a fixed size
	}
	look := r.look(l, slot)
	return append(appendNumbers(dst, look.Numbers...), look.Frame...)
}

func appendNumbers(dst []byte, numbers ...float32) []byte {
	for _, v := range numbers {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}

func readNumbers(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

// head holds the sizes with which a saved log begins: of looks, actions, copies and rows.
func (l *Log) head() [5]uint64 {
	s := l.shape
	return [...]uint64{uint64(s.Numbers), uint64(s.Bytes), uint64(s.Act), uint64(s.Copies), uint64(l.RowBytes())}
}

// Save writes the state and the rows of all that is held. What is only pinned is not among it: see
// Pinned.
func (l *Log) Save(w io.Writer) error {
	err := binary.Write(w, binary.LittleEndian, l.head())
	for _, is := range l.State().Reels {
		err = errors.Join(err, binary.Write(w, binary.LittleEndian, []uint64{is.Total, uint64(is.Held)}))
	}
	if err == nil {
		_, err = w.Write(l.AppendSince(nil, 0))
	}
	if err != nil {
		return fmt.Errorf("save what was seen: %w", err)
	}
	return nil
}

// Load replaces the log by what Save wrote for one of the same sizes. It reads no byte beyond. After
// an error nothing is held.
func (l *Log) Load(src io.Reader) error {
	var head [5]uint64
	s, rows := LogState{}, int64(0)
	err := binary.Read(src, binary.LittleEndian, &head)
	if err == nil && head != l.head() {
		err = fmt.Errorf("of sizes %d, want %d", head, l.head())
	}
	for i := 0; err == nil && i < len(l.reels); i++ {
		var is [2]uint64
		err = binary.Read(src, binary.LittleEndian, &is)
		s.Reels = append(s.Reels, ReelState{is[0], int(min(is[1], math.MaxInt32))})
		rows += int64(s.Reels[i].Held)
	}
	if err != nil {
		l.clear()
		return fmt.Errorf("load what was seen: %w", err)
	}
	return l.LoadLog(io.LimitReader(src, rows*int64(l.RowBytes())), s)
}

// LoadLog restores a log of the same sizes to state s, from the rows of everything that AppendSince
// wrote until then. After an error nothing is held.
func (l *Log) LoadLog(src io.Reader, s LogState) (err error) {
	defer func() {
		if err != nil {
			l.clear()
			err = fmt.Errorf("load what was seen: %w", err)
		}
	}()
	l.clear()
	if err := l.startIn(s); err != nil {
		return err
	}
	raw := make([]byte, l.RowBytes())
	for row := 0; ; row++ {
		switch _, err := io.ReadFull(src, raw); {
		case errors.Is(err, io.EOF):
			return l.standsIn(s)
		case err != nil:
			return fmt.Errorf("row %d: %w", row, err)
		}
		if err := l.addRow(raw, s); err != nil {
			return fmt.Errorf("row %d: %w", row, err)
		}
	}
}

// clear forgets everything.
func (l *Log) clear() {
	l.total, l.pins = 0, map[Ref]pin{}
	l.clears++
	for i := range l.reels {
		l.reels[i] = reel{number: i, capacity: l.room()}
	}
}

// mostGrown is how many times its first room a reel may have: an episode is at least one env step
// long, and at most two are lost in an env step.
const mostGrown = 8

// startIn prepares the reels for the looks that are held in s.
func (l *Log) startIn(s LogState) error {
	if len(s.Reels) != len(l.reels) {
		return fmt.Errorf("of %d copies, want %d", len(s.Reels), len(l.reels))
	}
	for i, is := range s.Reels {
		r, most := &l.reels[i], l.room()
		if l.keep.Steps > 0 {
			most *= mostGrown
		}
		short := is.Held < r.capacity && l.keep.Steps == 0 // one with columns of env steps may have room for more since a while: see Keep
		if is.Held < 0 || is.Held > most || is.Total < uint64(is.Held) || short && is.Total != uint64(is.Held) {
			return fmt.Errorf("copy %d: %d looks of %d, %d in all: that is no state of this log", i, is.Held, r.capacity, is.Total)
		}
		r.startAt(l, max(r.capacity, is.Held), is.Total-uint64(is.Held))
		l.total += r.total
	}
	return nil
}

// addRow adds the look of a row, if it is held in s.
func (l *Log) addRow(row []byte, s LogState) error {
	copies, kind := binary.LittleEndian.Uint32(row), binary.LittleEndian.Uint32(row[4:])
	at, first := binary.LittleEndian.Uint64(row[8:]), binary.LittleEndian.Uint64(row[16:])
	since := binary.LittleEndian.Uint64(row[24:])
	if uint64(copies) >= uint64(len(l.reels)) {
		return fmt.Errorf("a look of copy %d, of %d", copies, len(l.reels))
	}
	r, is := &l.reels[copies], s.Reels[copies]
	oldest := is.Total - uint64(is.Held)
	switch {
	case at < oldest: // it was forgotten
		return nil
	case at != r.total || at >= is.Total:
		return fmt.Errorf("look %d of copy %d, want %d of %d", at, copies, r.total, is.Total)
	case kind > rowRespawns || first > at || (kind == rowBegins) != (first == at):
		return fmt.Errorf("look %d of copy %d, of kind %d, in an episode from %d on", at, copies, kind, first)
	case kind != rowBegins && at > oldest && r.shots[r.slot(at-1)].First != first:
		return fmt.Errorf("look %d of copy %d is of another episode than the one before", at, copies)
	}
	var came arrival
	if l.keep.Steps > 0 {
		if _, err := binary.Decode(row[l.arrivalAt():], binary.LittleEndian, &came); err != nil {
			return err
		}
		if at > oldest && came.Step != r.steps || End(came.End) > Truncated {
			return fmt.Errorf("look %d of copy %d is of env step %d with end %d, want %d", at, copies, came.Step, came.End, r.steps)
		}
		r.steps = came.Step
	}
	if kind != rowBegins {
		if at > oldest {
			action := make([]float32, l.shape.Act)
			readNumbers(action, row[rowHead:])
			r.follow(l, action, math.Float32frombits(binary.LittleEndian.Uint32(row[rowHead-4:])))
		}
		r.steps++
	}
	look := Look{}
	if content := row[l.arrivalAt()+l.arrivalBytes():]; l.shape.Bytes > 0 {
		look.Frame = content
	} else {
		look.Numbers = make([]float32, l.shape.Numbers)
		readNumbers(look.Numbers, content)
	}
	r.add(l, look, shot{First: first, Since: since, Ended: kind == rowEnds, Respawned: kind == rowRespawns}, came)
	return nil
}

// standsIn returns an error unless the looks are those of s.
func (l *Log) standsIn(s LogState) error {
	for i, is := range s.Reels {
		if r := &l.reels[i]; r.total != is.Total {
			return fmt.Errorf("it ends after look %d of copy %d, want %d", r.total, i, is.Total)
		}
	}
	return nil
}
