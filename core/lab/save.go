package lab

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"time"

	"pgrlab/core/replay"
)

// stateful is a part that can go on where it was: Load reads what Save wrote and
// no byte beyond.
type stateful interface {
	Save(w io.Writer) error
	Load(r io.Reader) error
}

// savedLoop is the loop's part of a checkpoint; the members' parts follow it.
type savedLoop struct {
	Loop     loopState
	Schedule []Scheduled
	Members  []savedMember
}

// savedMember says, besides the counters, which parts follow.
type savedMember struct {
	State     memberState
	HasModel  bool
	Synthetic int // capacity of D_syn; 0: there is none yet
}

// mostState bounds what a broken file can make Load allocate.
const mostState = 1 << 28

// Save writes everything that the run depends on, in between two env steps.
func (x *experiment) Save(w io.Writer) error {
	if err := x.saveAll(w); err != nil {
		return fmt.Errorf("save run: %w", err)
	}
	return nil
}

func (x *experiment) saveAll(w io.Writer) error {
	if x.position.Phase != AfterStep {
		return fmt.Errorf("the run is at %s, in the middle of an env step", x.position)
	}
	s := savedLoop{Loop: x.loopState, Schedule: x.schedule}
	for _, m := range x.members {
		saved := savedMember{State: m.memberState, HasModel: m.model != nil}
		if m.synthetic != nil {
			saved.Synthetic = m.synthetic.Cap()
		}
		s.Members = append(s.Members, saved)
	}
	// gob reads ahead; its length keeps it from the parts behind it.
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(s); err != nil {
		return err
	}
	if err := binary.Write(w, binary.LittleEndian, uint64(b.Len())); err != nil {
		return err
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return err
	}
	for _, m := range x.members {
		for _, part := range m.stateful() {
			if err := part.Save(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// Load reads what Save wrote for the same Config into an experiment that has not
// begun. On an error it must not be used any further.
func (x *experiment) Load(r io.Reader) error {
	if err := x.loadAll(r); err != nil {
		return fmt.Errorf("load run: %w", err)
	}
	return nil
}

func (x *experiment) loadAll(r io.Reader) error {
	var size uint64
	if err := binary.Read(r, binary.LittleEndian, &size); err != nil {
		return err
	}
	if size > mostState {
		return errors.New("not a saved run, or of another version")
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(r, text); err != nil {
		return err
	}
	var s savedLoop
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&s); err != nil {
		return err
	}
	if len(s.Members) != len(x.members) {
		return fmt.Errorf("%d members are saved, the cohort has %d", len(s.Members), len(x.members))
	}
	x.loopState, x.schedule = s.Loop, s.Schedule
	for i, m := range x.members {
		if err := x.restore(m, s.Members[i]); err != nil {
			return err
		}
		for _, part := range m.stateful() {
			if err := part.Load(r); err != nil {
				return err
			}
		}
	}
	x.position = After(x.Step)
	x.publish(time.Time{})
	return nil
}

// restore brings the member into the shape that it was saved in: counters, the
// relevance function, a curiosity model and a D_syn where there were any.
func (x *experiment) restore(m *member, s savedMember) error {
	if len(s.State.Obs) != len(m.Obs) {
		return fmt.Errorf("an observation of %d numbers is saved, the task has %d", len(s.State.Obs), len(m.Obs))
	}
	m.memberState = s.State
	var err error
	if s.HasModel && m.model == nil {
		if _, m.model, err = x.parts.makeRelevance(relevanceCuriosity, m); err != nil {
			return err
		}
	}
	if m.f, m.model, err = x.parts.makeRelevance(x.Settings.Relevance, m); err != nil {
		return err
	}
	if s.Synthetic > 0 {
		m.synthetic = replay.NewRing(m.real.Shape(), s.Synthetic)
	}
	return nil
}

// stateful lists the member's parts in the order of a checkpoint. Environments of
// evaluation are not among them: every evaluation resets its own.
func (m *member) stateful() []stateful {
	parts := []stateful{m.env, m.agent, m.real}
	if m.model != nil {
		parts = append(parts, m.model)
	}
	if m.gen != nil {
		parts = append(parts, betweenFits{m.gen})
	}
	if m.synthetic != nil {
		parts = append(parts, m.synthetic)
	}
	return parts
}

// betweenFits is a generator that has no fit under way, so that its state does not
// refer to transitions.
type betweenFits struct{ generator }

func (g betweenFits) Load(r io.Reader) error { return g.generator.Load(r, nil) }
