package maze

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// stateMagic opens a saved state; its last byte is the version of the layout.
const stateMagic = "pgr-maze\x05"

// header names the task whose state follows.
type header struct {
	Magic [9]byte
	Task  [32]byte // name, padded with zeros
}

func (e *episode) header() (h header) {
	copy(h.Magic[:], stateMagic)
	copy(h.Task[:], e.task.Name)
	return h
}

// Save writes the whole state: another Env of the same task and seed that loads it goes on byte for
// byte, in this episode and in those after it. One of another seed goes on in this episode, and
// begins its own ones after it.
func (e *episode) Save(w io.Writer) error {
	var b bytes.Buffer
	binary.Write(&b, binary.LittleEndian, e.header()) // a Buffer does not fail
	binary.Write(&b, binary.LittleEndian, e.split)
	binary.Write(&b, binary.LittleEndian, e.seed)
	binary.Write(&b, binary.LittleEndian, e.state)
	binary.Write(&b, binary.LittleEndian, int32(e.tv))
	binary.Write(&b, binary.LittleEndian, e.walked)
	e.trail.save(&b)
	binary.Write(&b, binary.LittleEndian, e.looks)
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("save %s: %w", e.task.Name, err)
	}
	return nil
}

// Load reads what Save wrote, and no byte more. After an error the environment is unchanged.
func (e *episode) Load(r io.Reader) error {
	var h header
	var split Split
	var seed uint64 // the saved environment's; the episode's own is in its state
	var s state
	var tv int32
	var walked, looks float64
	for _, part := range []any{&h, &split, &seed, &s, &tv, &walked} {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return fmt.Errorf("load %s: %w", e.task.Name, err)
		}
		if h != e.header() {
			return fmt.Errorf("load %s: not a state of this task, or made by another version of pgrlab", e.task.Name)
		}
	}
	walkedOn := newTrail()
	err := walkedOn.load(r)
	if err == nil {
		err = binary.Read(r, binary.LittleEndian, &looks)
	}
	if err != nil {
		return fmt.Errorf("load %s: %w", e.task.Name, err)
	}
	if tv < 0 || int(tv) >= len(TVs) {
		return fmt.Errorf("load %s: TV %d of %d", e.task.Name, tv, len(TVs))
	}
	if err := s.check(); err != nil {
		return fmt.Errorf("load %s: %w", e.task.Name, err)
	}
	e.split, e.state, e.tv, e.walked, e.trail, e.looks = split, s, TV(tv), walked, walkedOn, looks
	if s.Step != notStarted {
		e.enter()
	}
	return nil
}

// check returns an error if a saved state is impossible.
func (s *state) check() error {
	inside := func(v float64) bool { return v > 1 && v < Side-1 }
	finite := func(v float64) bool { return math.Abs(v) <= 2*topSpeed }
	switch {
	case s.Step < notStarted || s.Step > EpisodeSteps:
		return fmt.Errorf("step %d of an episode", s.Step)
	case s.Step == notStarted:
		return nil
	case !inside(s.X) || !inside(s.Y) || !finite(s.VX) || !finite(s.VY) || s.Heading < 0 || s.Heading >= headings:
		return fmt.Errorf("a player at (%v, %v) with speed (%v, %v) and heading %d", s.X, s.Y, s.VX, s.VY, s.Heading)
	}
	return nil
}
