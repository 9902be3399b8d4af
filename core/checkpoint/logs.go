package checkpoint

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math"

	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// saved is a log from which a part is loaded.
type saved struct {
	limit run.Limit // the most that it can hold
	load  func(state []byte, log io.Reader, d run.Data) error
}

// logs returns the logs of all members, by the names of their sections.
func (i *Into) logs() map[string]saved {
	all := map[string]saved{}
	for _, m := range i.Members {
		for _, l := range m.Appended() {
			switch rows := l.Rows.(type) {
			case *replay.Ring:
				all[l.Name] = saved{i.Config.Limit(i.Task), func(state []byte, log io.Reader, d run.Data) error {
					return LoadReal(rows, state, log, d)
				}}
			case *experience.Log:
				all[l.Name] = saved{i.framesLimit(rows), func(state []byte, log io.Reader, d run.Data) error {
					return loadFrames(rows, state, log, d)
				}}
			}
		}
	}
	return all
}

// framesLimit is the most that a log of frames can hold. The log also contains the frames that
// were overwritten, and an env step may begin several episodes.
func (i *Into) framesLimit(f *experience.Log) run.Limit {
	rows := 4 * float64(i.Config.Steps+i.Config.Environment.InLockstep())
	return run.Limit(min(rows*float64(f.RowBytes()), math.MaxInt64/2))
}

// loadFrames reads the frames that were held from the log of all that were added.
func loadFrames(f *experience.Log, state []byte, log io.Reader, d run.Data) error {
	var s experience.LogState
	if err := gob.NewDecoder(bytes.NewReader(state)).Decode(&s); err != nil {
		return errors.New("the state of the frames cannot be read")
	}
	if len(d.Pieces) == 0 { // every episode begins with a frame
		return fmt.Errorf("%s has no pieces", d.Name)
	}
	return f.LoadLog(log, s)
}

// LoadReal reads the rows that D_real held from the log of all that were added.
func LoadReal(ring *replay.Ring, state []byte, log io.Reader, d run.Data) error {
	var s replay.State
	if err := gob.NewDecoder(bytes.NewReader(state)).Decode(&s); err != nil {
		return errors.New("the state of D_real cannot be read")
	}
	if s.Len > 0 && len(d.Pieces) == 0 { // before the first transition there are none
		return fmt.Errorf("%s has no pieces", d.Name)
	}
	var all int64
	for _, p := range d.Pieces {
		all += p.Bytes
	}
	if older := all - int64(s.Len)*int64(ring.RowBytesIn(s)); older > 0 {
		if _, err := io.CopyN(io.Discard, log, older); err != nil {
			return err
		}
	}
	return ring.LoadLog(log, s)
}
