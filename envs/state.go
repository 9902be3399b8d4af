package envs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// stateMagic opens a saved state; its last byte is the version of the layout.
const stateMagic = "pgr-env\x02"

// header is the fixed part of a saved state, little-endian. The sizes are those
// of the arrays that follow, in this order.
type header struct {
	Magic   [8]byte
	Task    [32]byte // see identity
	Sizes   [7]uint32
	Seed    uint64 // not restored: see restore
	Episode uint64
	Step    int64
	Over    uint64  // 1: the episode ended by itself
	Time    float64 // simulated seconds
}

// arrays returns the arrays of a state, from which the physics computes everything else.
// The solver's warm start is one of them; without it, a restored copy deviates within a
// few hundred steps.
func (s *simulation) arrays() [7][]float64 {
	b := s.body
	return [7][]float64{b.QPos, b.QVel, b.Act, b.QAccWarmstart, b.Ctrl, s.behaviour.written(), s.obs}
}

// earlier returns further arrays of a saved state: what the behaviour keeps of the beginning of the next
// control step.
func (s *simulation) earlier() [][]float64 {
	if r, ok := s.behaviour.(reminiscent); ok {
		return r.earlier()
	}
	return nil
}

// keptEarlier says that they are filled already.
func (s *simulation) keptEarlier() {
	if r, ok := s.behaviour.(reminiscent); ok {
		r.keptEarlier()
	}
}

func (s *simulation) header() (h header, err error) {
	copy(h.Magic[:], stateMagic)
	h.Task = s.task.identity()
	for i, a := range s.arrays() {
		h.Sizes[i] = uint32(len(a))
	}
	h.Seed, h.Episode, h.Step = s.seed, s.episode, int64(s.step)
	if s.over {
		h.Over = 1
	}
	h.Time, err = s.body.Time()
	return h, err
}

func (s *simulation) save(w io.Writer) error {
	h, err := s.header()
	if err != nil {
		return fmt.Errorf("save %s: %w", s.task.Name, err)
	}
	var buf bytes.Buffer
	binary.Write(&buf, binary.LittleEndian, h) // a Buffer does not fail
	for _, a := range s.arrays() {
		binary.Write(&buf, binary.LittleEndian, a)
	}
	s.depart()
	for _, a := range s.earlier() {
		binary.Write(&buf, binary.LittleEndian, a)
	}
	s.keptEarlier()
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("save %s: %w", s.task.Name, err)
	}
	return nil
}

// load reads a whole state before it changes anything.
func (s *simulation) load(r io.Reader) error {
	saved, values, earlier, err := s.read(r)
	if err == nil {
		err = s.restore(saved, values)
	}
	if err == nil {
		for i, a := range s.earlier() {
			copy(a, earlier[i])
		}
		s.keptEarlier()
	}
	if err != nil {
		return fmt.Errorf("load %s: %w", s.task.Name, err)
	}
	return nil
}

func (s *simulation) read(r io.Reader) (saved header, values [7][]float64, earlier [][]float64, err error) {
	if err := binary.Read(r, binary.LittleEndian, &saved); err != nil {
		return saved, values, nil, err
	}
	mine, err := s.header()
	if err != nil {
		return saved, values, nil, err
	}
	switch {
	case saved.Magic != mine.Magic:
		return saved, values, nil, fmt.Errorf("not the state of an environment, or made by another version of pgrlab")
	case saved.Task != mine.Task:
		return saved, values, nil, s.task.otherwise(saved.Task)
	case saved.Sizes != mine.Sizes:
		return saved, values, nil, fmt.Errorf("sizes %v, want %v", saved.Sizes, mine.Sizes)
	case saved.Step < notStarted || saved.Step > int64(s.task.length) || saved.Over > 1:
		return saved, values, nil, fmt.Errorf("step %d of an episode", saved.Step)
	}
	for i, n := range saved.Sizes {
		values[i] = make([]float64, n)
		if err := binary.Read(r, binary.LittleEndian, values[i]); err != nil {
			return saved, values, nil, err
		}
	}
	for _, a := range s.earlier() {
		a = make([]float64, len(a))
		if err := binary.Read(r, binary.LittleEndian, a); err != nil {
			return saved, values, nil, err
		}
		earlier = append(earlier, a)
	}
	return saved, values, earlier, nil
}

// restore writes a state and computes the quantities that depend on position and velocity,
// on which the next step builds. The reset clears the engine's warnings of a simulation that
// had diverged. The seed stays: it decides later episodes, and a run that branches off with
// another seed has its own.
func (s *simulation) restore(saved header, values [7][]float64) error {
	if err := s.body.Reset(); err != nil {
		return err
	}
	if err := s.body.SetTime(saved.Time); err != nil {
		return err
	}
	for i, a := range s.arrays() {
		copy(a, values[i])
	}
	s.episode, s.step, s.over = saved.Episode, int(saved.Step), saved.Over == 1
	return s.body.prepare()
}
