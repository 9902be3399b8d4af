package sac

import (
	"encoding/binary"
	"io"

	"pgrlab/core/plan"
	"pgrlab/core/version"
)

// magic begins a saved agent; the digit is the version of the format.
const magic = "PGRA1\n"

// counters are what the random numbers and the policy's delay depend on.
type counters struct{ Updates, Since uint64 }

// Save writes everything that learning depends on: policy, critics, targets,
// moments, α and counters.
func (s *Agent) Save(w io.Writer) error {
	if _, err := io.WriteString(w, magic); err != nil {
		return err
	}
	if err := binary.Write(w, binary.LittleEndian, counters{s.updates, uint64(s.since)}); err != nil {
		return err
	}
	if err := s.temp.save(w); err != nil {
		return err
	}
	if err := plan.Save(s.dev, w, s.nets.state()); err != nil {
		return err
	}
	if err := s.policyAdam.Save(w); err != nil {
		return err
	}
	return s.criticAdam.Save(w)
}

// Load reads what Save wrote for the same sizes and numbers of critics; learning
// goes on as if it had not stopped. It reads no byte beyond. On an error the agent
// must not be used any further.
func (s *Agent) Load(r io.Reader) error {
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(r, head); err != nil {
		return err
	}
	if string(head) != magic {
		return version.ErrOther
	}
	var c counters
	if err := binary.Read(r, binary.LittleEndian, &c); err != nil {
		return err
	}
	s.updates, s.since = c.Updates, int(c.Since)
	if err := s.temp.load(r); err != nil {
		return err
	}
	if err := plan.Load(s.dev, r, s.nets.state()); err != nil {
		return err
	}
	if err := s.policyAdam.Load(r); err != nil {
		return err
	}
	return s.criticAdam.Load(r)
}

// SavePolicy writes the policy's weights alone, which is what acting needs, in the
// format of nn.Save.
func (s *Agent) SavePolicy(w io.Writer) error {
	return plan.Save(s.dev, w, s.nets.policy.Params())
}

// LoadPolicy reads what SavePolicy wrote and leaves the rest of the agent unchanged.
func (s *Agent) LoadPolicy(r io.Reader) error {
	return plan.Load(s.dev, r, s.nets.policy.Params())
}
