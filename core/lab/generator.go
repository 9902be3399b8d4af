package lab

import (
	"pgrlab/core/agent"
	"pgrlab/core/replay"
)

// sampling is the agent as a generator sees it that rolls out a model.
type sampling struct{ policy agent.Policy }

// Sample is generative.Policy's. A policy that remembers its episode begins anew at
// every observation.
func (s sampling) Sample(dst, obs []float32, rows int, occasion uint64) error {
	return s.policy.Act(&agent.Acting{
		Copies: rows, Obs: obs, Actions: dst, State: make([]float32, rows*s.policy.StateSize()), Step: occasion, Mode: agent.Sample,
	})
}

// retain is the D_syn that follows from the generation that was completed: that alone,
// or behind those before it as far as the run keeps them.
func (x *experiment) retain(m *member) *replay.Ring {
	kept := x.config.Generator.Generations()
	if kept == 1 {
		return m.fresh
	}
	all := replay.NewRing(m.real.Shape(), max(1, min(kept*m.fresh.Cap(), x.config.Buffer)))
	for _, from := range []*replay.Ring{m.synthetic, m.fresh} {
		if from == nil {
			continue
		}
		for _, slot := range from.Oldest(0, from.Len()) {
			all.AddRows(from.Row(slot))
		}
	}
	return all
}
