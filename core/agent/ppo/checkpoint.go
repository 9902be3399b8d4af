package ppo

import (
	"io"

	"pgrlab/core/plan"
)

// counters are what random numbers depend on, and where the rollout begins.
type counters struct{ Updates, Iterations, From uint64 }

// parts are everything that learning depends on, in the order of a file.
func (x *Agent) parts(c *counters) []any {
	r := x.rollout
	return []any{c, plan.Tensors{Device: x.dev, Of: x.nets.params()}, x.adam, r.returns, r.values, r.logp, r.advantages}
}

// Save writes everything that learning depends on.
func (x *Agent) Save(w io.Writer) error {
	return plan.SaveAll(w, x.parts(&counters{x.updates, x.iterations, x.rollout.From})...)
}

// Load reads what Save wrote for the same configuration; learning goes on as if it had not
// stopped. It reads no byte beyond. On an error the agent must not be used any further.
func (x *Agent) Load(in io.Reader) error {
	var c counters
	if err := plan.LoadAll(in, x.parts(&c)...); err != nil {
		return err
	}
	x.updates, x.iterations, x.order.epoch, x.rollout.gathered = c.Updates, c.Iterations, 0, 0
	return x.rollout.Begun(c.From)
}

// SavePolicy writes what acting needs, in the format of nn.Save.
func (x *Agent) SavePolicy(w io.Writer) error {
	return plan.Save(x.dev, w, x.nets.policyParams())
}

// LoadPolicy reads what SavePolicy wrote and leaves the rest of the agent unchanged.
func (x *Agent) LoadPolicy(r io.Reader) error {
	return plan.Load(x.dev, r, x.nets.policyParams())
}
