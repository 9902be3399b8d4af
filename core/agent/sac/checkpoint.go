package sac

import (
	"io"

	"pgrlab/core/plan"
)

// counters are what the random numbers and the policy's delay depend on.
type counters struct{ Updates, Since uint64 }

// parts are everything that learning depends on, in the order of a file: counters, α, policy, critics and
// targets, moments.
func (s *Agent) parts(c *counters) []any {
	return []any{c, s.temp, plan.Tensors{Device: s.dev, Of: s.nets.state()}, s.policyAdam, s.criticAdam}
}

// Save writes everything that learning depends on.
func (s *Agent) Save(w io.Writer) error {
	return plan.SaveAll(w, s.parts(&counters{s.updates, uint64(s.since)})...)
}

// Load reads what Save wrote for the same sizes and numbers of critics; learning
// goes on as if it had not stopped. It reads no byte beyond. On an error the agent
// must not be used any further.
func (s *Agent) Load(r io.Reader) error {
	var c counters
	err := plan.LoadAll(r, s.parts(&c)...)
	s.updates, s.since = c.Updates, int(c.Since)
	return err
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
