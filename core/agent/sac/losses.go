package sac

import (
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// buildTarget builds y = r + γ(1−d)(min over K of Q̄ₖ(s',a') − α·log π(a'|s')).
func (s *Agent) buildTarget(g *op.Graph, u *updater) (spec plan.Spec, y *op.Node) {
	next := g.Bind(u.next)
	noise := g.Input("noise", u.batch.Size, s.config.Act)
	action, logp := s.nets.sample(g, next, noise)
	pair := g.Concat(next, action)
	all, fills := s.nets.target.perturbed(g)
	var q *op.Node
	if s.chosen == nil {
		q = s.nets.target.apply(g, pair, all)
	} else {
		q = s.nets.target.applyAt(g, pair, g.Bind(s.chosen), all)
	}
	y = g.TDTarget(g.Bind(u.reward), g.Bind(u.done), g.MinMembers(q), logp, g.Bind(s.gamma), g.Bind(s.temp.alpha))
	return plan.Spec{
		Finite: []*op.Node{y},
		Fills:  append(fills, plan.Fill{Node: noise, Stream: s.targetNoise}),
		Lerps:  []plan.Lerp{{Dst: u.targets, Node: y}},
	}, y
}

// buildActor builds mean(α·log π(ã|s) − Q(s,ã)), where Q is the mean over N critics or their minimum
// (Config.PolicyQ), differentiated with respect to the policy alone.
func (s *Agent) buildActor(g *op.Graph, u *updater) (spec plan.Spec, logp *op.Node) {
	obs := g.Bind(u.obs)
	noise := g.Input("noise", u.batch.Size, s.config.Act)
	action, logp := s.nets.sample(g, obs, noise)
	all, fills := s.nets.critics.perturbed(g)
	value := s.nets.critics.value(g, obs, action, all)
	if s.config.PolicyQ == PolicyMin {
		value = g.MinMembers(s.nets.critics.apply(g, g.Concat(obs, action), all))
	}
	spec = plan.Spec{
		Loss:      g.EntropyLoss(logp, value, g.Bind(s.temp.alpha)),
		Fills:     append(fills, plan.Fill{Node: noise, Stream: s.actorNoise}),
		Optimiser: s.policyAdam,
	}
	if u.logp != nil { // α's step is a program
		spec.Lerps = []plan.Lerp{{Dst: u.logp, Node: logp}}
	} else {
		spec.Outputs = []*op.Node{logp}
	}
	return spec, logp
}

// buildCritic builds Σⱼ mean w(Qⱼ(s,a) − y)², and the move of the targets.
func (s *Agent) buildCritic(g *op.Graph, u *updater, y *op.Node) (spec plan.Spec, q *op.Node) {
	all, fills := s.nets.critics.perturbed(g)
	q = s.nets.critics.apply(g, g.Concat(g.Bind(u.obs), g.Bind(u.act)), all)
	rows, loss := float64(u.batch.Size), (*op.Node)(nil)
	if u.weight == nil {
		loss = g.SquaredError(q, y, rows)
	} else {
		loss = g.WeightedSquaredError(q, y, g.Bind(u.weight), rows)
	}
	spec = plan.Spec{
		Loss:      loss,
		Outputs:   []*op.Node{q},
		Fills:     fills,
		Optimiser: s.criticAdam,
		Lerps:     plan.Follow(s.nets.target.params(), s.nets.critics.params(), s.tau),
	}
	return spec, q
}
