package agent

import (
	"fmt"
	"math"

	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// keptSizes is how many batch sizes stay compiled: someone who turns a knob goes
// back and forth between a few.
const keptSizes = 4

// updater holds the programs of one batch size. They share the batch's memory and
// all parameters.
type updater struct {
	batch                        *replay.Batch
	obs, act, reward, next, done *op.Tensor
	weight                       *op.Tensor // importance of each row; nil where all count alike
	target, actor, critic        *plan.Program
	y, logp, q                   *op.Node // results of target, actor, critic
	targets                      *op.Tensor
	yData, logpData, qData       []float32
}

// Batch is the memory that an update of that size reads. The programs of a size
// are compiled when it is first asked for; the memory stays valid until several
// other sizes were used.
func (s *SAC) Batch(size int) (*replay.Batch, error) {
	u, err := s.updater(size)
	if err != nil {
		return nil, err
	}
	return u.batch, nil
}

func (s *SAC) updater(size int) (*updater, error) {
	for i, u := range s.updaters {
		if u.batch.Size == size {
			copy(s.updaters[1:i+1], s.updaters[:i])
			s.updaters[0] = u
			return u, nil
		}
	}
	if size < 1 {
		return nil, fmt.Errorf("agent: a batch of %d, want at least 1", size)
	}
	u, err := s.newUpdater(size)
	if err != nil {
		return nil, err
	}
	if len(s.updaters) == keptSizes {
		if err := closeAll(s.updaters[keptSizes-1].programs()); err != nil {
			return nil, err
		}
		s.updaters = s.updaters[:keptSizes-1]
	}
	s.updaters = append([]*updater{u}, s.updaters...)
	return u, nil
}

func (u *updater) programs() []*plan.Program { return []*plan.Program{u.target, u.actor, u.critic} }

func (s *SAC) newUpdater(size int) (*updater, error) {
	o, a := s.config.Obs, s.config.Act
	u := &updater{
		obs: op.NewTensor("s", size, o), act: op.NewTensor("a", size, a), reward: op.NewTensor("r", size, 1),
		next: op.NewTensor("s'", size, o), done: op.NewTensor("d", size, 1), targets: op.NewTensor("y", size, 1),
	}
	u.batch = &replay.Batch{
		Size: size, Obs: u.obs.Data, Act: u.act.Data, Reward: u.reward.Data, Next: u.next.Data, Done: u.done.Data,
	}
	if s.config.Weighted {
		u.weight = op.NewTensor("w", size, 1)
		u.batch.Weight = u.weight.Data
	}
	var err error
	if u.target, err = s.compile("target", func(g *op.Graph) plan.Spec { return s.drawTarget(g, u) }); err != nil {
		return nil, err
	}
	if u.actor, err = s.compile("actor", func(g *op.Graph) plan.Spec { return s.drawActor(g, u) }); err != nil {
		return nil, err
	}
	if u.critic, err = s.compile("critic", func(g *op.Graph) plan.Spec { return s.drawCritic(g, u) }); err != nil {
		return nil, err
	}
	u.yData, u.logpData, u.qData = u.target.Data(u.y), u.actor.Data(u.logp), u.critic.Data(u.q)
	return u, nil
}

// drawTarget: y = r + γ(1−d)(min over K of Q̄ₖ(s',a') − α·log π(a'|s')).
func (s *SAC) drawTarget(g *op.Graph, u *updater) plan.Spec {
	next := g.Bind(u.next)
	noise := g.Input("noise", u.batch.Size, s.config.Act)
	action, logp := s.nets.sample(g, next, noise)
	pair := g.Concat(next, action)
	all, fills := s.nets.target.drawn(g)
	var q *op.Node
	if s.members == nil {
		q = s.nets.target.apply(g, pair, all)
	} else {
		q = s.nets.target.applyAt(g, pair, g.Bind(s.members), all)
	}
	u.y = g.TDTarget(g.Bind(u.reward), g.Bind(u.done), g.MinMembers(q), logp, g.Bind(s.gamma), g.Bind(s.temp.alpha))
	return plan.Spec{Outputs: []*op.Node{u.y}, Finite: []*op.Node{u.y}, Fills: append(fills, plan.Fill{Node: noise, Stream: s.targetNoise})}
}

// drawActor: mean(α·log π(ã|s) − mean over N of Qⱼ(s,ã)), differentiated by the
// policy alone.
func (s *SAC) drawActor(g *op.Graph, u *updater) plan.Spec {
	obs := g.Bind(u.obs)
	noise := g.Input("noise", u.batch.Size, s.config.Act)
	action, logp := s.nets.sample(g, obs, noise)
	u.logp = logp
	all, fills := s.nets.critics.drawn(g)
	return plan.Spec{
		Loss:      g.EntropyLoss(logp, s.nets.critics.value(g, obs, action, all), g.Bind(s.temp.alpha)),
		Outputs:   []*op.Node{logp},
		Fills:     append(fills, plan.Fill{Node: noise, Stream: s.actorNoise}),
		Optimiser: s.policyAdam,
	}
}

// drawCritic: Σⱼ mean w(Qⱼ(s,a) − y)², and the move of the targets.
func (s *SAC) drawCritic(g *op.Graph, u *updater) plan.Spec {
	all, fills := s.nets.critics.drawn(g)
	u.q = s.nets.critics.apply(g, g.Concat(g.Bind(u.obs), g.Bind(u.act)), all)
	y, rows := g.Bind(u.targets), float64(u.batch.Size)
	loss := (*op.Node)(nil)
	if u.weight == nil {
		loss = g.SquaredError(u.q, y, rows)
	} else {
		loss = g.WeightedSquaredError(u.q, y, g.Bind(u.weight), rows)
	}
	spec := plan.Spec{
		Loss:      loss,
		Outputs:   []*op.Node{u.q},
		Fills:     fills,
		Optimiser: s.criticAdam,
	}
	critics := s.nets.critics.params()
	for i, t := range s.nets.target.params() {
		spec.Lerps = append(spec.Lerps, plan.Lerp{Dst: t, Src: critics[i], Rate: s.tau})
	}
	return spec
}

// Update makes one critic update on what Batch(size) holds, and where it is due
// one of the policy and of α: at each PolicyDelay-th update of an env step and at
// its last, which the caller names. It reports whether the policy was stepped. It
// does not allocate.
//
// Where a target, a loss or a gradient is not finite the error wraps a
// *plan.NotFinite: the networks keep the weights that they had, the update counts
// as made, and the agent can go on with the next one.
func (s *SAC) Update(size int, live Rates, last bool) (losses Losses, stepped bool, err error) {
	u, err := s.updater(size)
	if err != nil {
		return Losses{}, false, err
	}
	losses, stepped, err = s.update(u, live, last)
	s.updates++
	if last {
		s.since = 0
	}
	if err != nil {
		return Losses{}, stepped, fmt.Errorf("agent: %w", err)
	}
	return losses, stepped, nil
}

func (s *SAC) update(u *updater, live Rates, last bool) (losses Losses, stepped bool, err error) {
	s.rateActor.Data[0], s.rateCritic.Data[0] = float32(live.LRActor), float32(live.LRCritic)
	s.tau.Data[0] = float32(live.Tau)
	losses.Actor, losses.Alpha = math.NaN(), math.NaN()

	s.chooseSubset()
	s.since++
	if err := u.target.Run(s.updates); err != nil {
		return Losses{}, false, err
	}
	copy(u.targets.Data, u.yData)
	if stepped = last || s.since%s.config.PolicyDelay == 0; stepped {
		if err := u.actor.Run(s.updates); err != nil {
			return Losses{}, false, err
		}
		losses.Actor = u.actor.Loss()
		losses.Alpha = s.temp.step(u.logpData, live.LRActor)
	}
	if err := u.critic.Run(s.updates); err != nil {
		return Losses{}, stepped, err
	}
	losses.Critic, losses.QMean, losses.AlphaValue = u.critic.Loss(), mean(u.qData), s.Alpha()
	return losses, stepped, nil
}

// Errors writes |mean over critics of Qⱼ(s,a) − y| of the rows of the last update of
// that size to dst [size], with the critics before their step: the priorities of
// prioritized sampling.
func (s *SAC) Errors(dst []float32, size int) error {
	if len(s.updaters) == 0 || s.updaters[0].batch.Size != size || len(dst) < size {
		return fmt.Errorf("errors of a batch: the last update was not one of %d rows", size)
	}
	u := s.updaters[0]
	for i, y := range u.targets.Data {
		sum := 0.0
		for j := i; j < len(u.qData); j += size {
			sum += float64(u.qData[j])
		}
		dst[i] = float32(math.Abs(sum/float64(s.config.Critics) - float64(y)))
	}
	return nil
}

// chooseSubset draws K, the critics of this update's target.
func (s *SAC) chooseSubset() {
	if s.members == nil {
		return
	}
	s.subsets.At(s.updates).Choose(s.subset, s.config.Critics)
	for i, member := range s.subset {
		s.members.Data[i] = float32(member)
	}
}

func mean(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v)
	}
	return sum / float64(len(x))
}
