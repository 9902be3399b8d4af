package agent

import (
	"fmt"
	"math"

	"pgrlab/core/device"
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
	targets                      *op.Tensor // y of the last update

	// Of batches that the device samples itself: see UpdateN.
	sampled     bool
	sample      *plan.Program
	sampledFrom int // the feed's changed when sample was compiled
	mixer       replay.Mixer
	whole       *wholeStep

	// An update is all of learn, or where the policy is stepped as well, target,
	// actor and critic: the policy learns from the critics before their step, and
	// targets are made with the policy before its own.
	learn                 *plan.Program
	target, actor, critic *plan.Program
	temper                *plan.Program               // α's step on logp; nil: the host makes it on logpData
	logp                  *op.Tensor                  // [B,1], of actor for temper; nil without
	logpData              []float32                   // of actor
	q                     map[*plan.Program][]float32 // of learn and critic
	qNodes                map[*plan.Program]*op.Node
	qData                 []float32 // of the last update
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

func (s *SAC) updater(size int) (*updater, error) { return s.updaterOf(size, false) }

// updaterOf is the updater of a size, for batches that the host writes or that the
// device samples: what a device has made is not what the host has.
func (s *SAC) updaterOf(size int, sampled bool) (*updater, error) {
	for i, u := range s.updaters {
		if u.batch.Size == size && u.sampled == sampled {
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
	u.sampled = sampled
	if len(s.updaters) == keptSizes {
		if err := s.updaters[keptSizes-1].close(); err != nil {
			return nil, err
		}
		s.updaters = s.updaters[:keptSizes-1]
	}
	s.updaters = append([]*updater{u}, s.updaters...)
	return u, nil
}

func (u *updater) close() error {
	err := u.closeSample()
	if e := closeAll([]*plan.Program{u.learn, u.target, u.actor, u.temper, u.critic}); err == nil {
		err = e
	}
	return err
}

// closeSample closes what samples batches, and what contains it.
func (u *updater) closeSample() error {
	if err := u.closeWhole(); err != nil {
		return err
	}
	sample := u.sample
	u.sample = nil
	return closeAll([]*plan.Program{sample})
}

func (u *updater) closeWhole() error {
	if u.whole == nil {
		return nil
	}
	w := u.whole
	u.whole = nil
	if err := w.sequence.Close(); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	return nil
}

func (s *SAC) newUpdater(size int) (*updater, error) {
	o, a := s.config.Obs, s.config.Act
	u := &updater{
		obs: op.NewTensor("s", size, o), act: op.NewTensor("a", size, a), reward: op.NewTensor("r", size, 1),
		next: op.NewTensor("s'", size, o), done: op.NewTensor("d", size, 1), targets: op.NewTensor("y", size, 1),
	}
	u.batch = &replay.Batch{
		Size: size, Obs: u.obs.Data, Act: u.act.Data, Reward: u.reward.Data, Next: u.next.Data, Done: u.done.Data,
	}
	if dev, can := s.dev.(device.Sharer); can {
		u.batch.Share = dev.Share
	}
	if s.temp.dev != nil {
		u.logp = op.NewTensor("log π", size, 1)
	}
	if s.config.Weighted {
		u.weight = op.NewTensor("w", size, 1)
		u.batch.Weight = u.weight.Data
	}
	return u, s.compileUpdates(u)
}

// compileUpdates compiles the programs of an updater.
func (s *SAC) compileUpdates(u *updater) (err error) {
	var logp, q, qLearn *op.Node
	for _, p := range []struct {
		name  string
		to    **plan.Program
		build func(g *op.Graph) plan.Spec
	}{
		{"target and critic", &u.learn, func(g *op.Graph) (spec plan.Spec) {
			target, y := s.buildTarget(g, u)
			spec, qLearn = s.buildCritic(g, u, g.StopGradient(y))
			spec.Fills, spec.Finite = append(spec.Fills, target.Fills...), target.Finite
			spec.Lerps = append(spec.Lerps, target.Lerps...)
			return spec
		}},
		{"target", &u.target, func(g *op.Graph) plan.Spec {
			spec, _ := s.buildTarget(g, u)
			return spec
		}},
		{"actor", &u.actor, func(g *op.Graph) (spec plan.Spec) {
			spec, logp = s.buildActor(g, u)
			return spec
		}},
		{"critic", &u.critic, func(g *op.Graph) (spec plan.Spec) {
			spec, q = s.buildCritic(g, u, g.Bind(u.targets))
			return spec
		}},
	} {
		if *p.to, err = s.compile(p.name, p.build); err != nil {
			return err
		}
	}
	u.q = map[*plan.Program][]float32{u.learn: u.learn.Data(qLearn), u.critic: u.critic.Data(q)}
	u.qNodes = map[*plan.Program]*op.Node{u.learn: qLearn, u.critic: q}
	if u.logp != nil {
		u.temper, err = s.temp.program(u.logp)
		return err
	}
	u.logpData = u.actor.Data(logp)
	return nil
}

// buildTarget: y = r + γ(1−d)(min over K of Q̄ₖ(s',a') − α·log π(a'|s')).
func (s *SAC) buildTarget(g *op.Graph, u *updater) (spec plan.Spec, y *op.Node) {
	next := g.Bind(u.next)
	noise := g.Input("noise", u.batch.Size, s.config.Act)
	action, logp := s.nets.sample(g, next, noise)
	pair := g.Concat(next, action)
	all, fills := s.nets.target.perturbed(g)
	var q *op.Node
	if s.members == nil {
		q = s.nets.target.apply(g, pair, all)
	} else {
		q = s.nets.target.applyAt(g, pair, g.Bind(s.members), all)
	}
	y = g.TDTarget(g.Bind(u.reward), g.Bind(u.done), g.MinMembers(q), logp, g.Bind(s.gamma), g.Bind(s.temp.alpha))
	return plan.Spec{
		Finite: []*op.Node{y},
		Fills:  append(fills, plan.Fill{Node: noise, Stream: s.targetNoise}),
		Lerps:  []plan.Lerp{{Dst: u.targets, Node: y}},
	}, y
}

// buildActor: mean(α·log π(ã|s) − mean over N of Qⱼ(s,ã)), differentiated by the
// policy alone.
func (s *SAC) buildActor(g *op.Graph, u *updater) (spec plan.Spec, logp *op.Node) {
	obs := g.Bind(u.obs)
	noise := g.Input("noise", u.batch.Size, s.config.Act)
	action, logp := s.nets.sample(g, obs, noise)
	all, fills := s.nets.critics.perturbed(g)
	spec = plan.Spec{
		Loss:      g.EntropyLoss(logp, s.nets.critics.value(g, obs, action, all), g.Bind(s.temp.alpha)),
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

// buildCritic: Σⱼ mean w(Qⱼ(s,a) − y)², and the move of the targets.
func (s *SAC) buildCritic(g *op.Graph, u *updater, y *op.Node) (spec plan.Spec, q *op.Node) {
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
	}
	critics := s.nets.critics.params()
	for i, t := range s.nets.target.params() {
		spec.Lerps = append(spec.Lerps, plan.Lerp{Dst: t, Src: critics[i], Rate: s.tau})
	}
	return spec, q
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
	return s.counted(u, live, last)
}

// counted makes an update on what the updater's batch holds.
func (s *SAC) counted(u *updater, live Rates, last bool) (losses Losses, stepped bool, err error) {
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

// steps says whether the policy is stepped in the since-th update of an env step.
func (s *SAC) steps(since int, last bool) bool { return last || since%s.config.PolicyDelay == 0 }

// set gives the programs what may change between updates.
func (s *SAC) set(live Rates) {
	s.rateActor.Data[0], s.rateCritic.Data[0] = float32(live.LRActor), float32(live.LRCritic)
	s.tau.Data[0] = float32(live.Tau)
	s.temp.rate = live.LRActor
}

func (s *SAC) update(u *updater, live Rates, last bool) (losses Losses, stepped bool, err error) {
	s.set(live)
	losses.Actor, losses.Alpha = math.NaN(), math.NaN()

	if err := s.chooseSubset(); err != nil {
		return Losses{}, false, err
	}
	s.since++
	critic := u.learn
	if stepped = s.steps(s.since, last); stepped {
		critic = u.critic
		if err := u.target.Run(s.updates); err != nil {
			return Losses{}, false, err
		}
		if err := u.actor.Run(s.updates); err != nil {
			return Losses{}, false, err
		}
		losses.Actor = u.actor.Loss()
		if losses.Alpha, err = s.temper(u); err != nil {
			return Losses{}, false, err
		}
	}
	if err := critic.Run(s.updates); err != nil {
		return Losses{}, stepped, err
	}
	u.qData = u.q[critic]
	losses.Critic, losses.QMean, losses.AlphaValue = critic.Loss(), mean(u.qData), s.Alpha()
	return losses, stepped, nil
}

// temper steps α on the last batch's log π.
func (s *SAC) temper(u *updater) (loss float64, err error) {
	if u.temper == nil {
		return s.temp.step(u.logpData), nil
	}
	if err := u.temper.Run(s.updates); err != nil {
		return 0, err
	}
	return s.temp.read(u.temper.Result()), nil
}

// Errors writes |mean over critics of Qⱼ(s,a) − y| of the rows of the last update of
// that size to dst [size], with the critics before their step: the priorities of
// prioritized sampling.
func (s *SAC) Errors(dst []float32, size int) error {
	if len(s.updaters) == 0 || s.updaters[0].batch.Size != size || len(dst) < size {
		return fmt.Errorf("errors of a batch: the last update was not one of %d rows", size)
	}
	u := s.updaters[0]
	if err := plan.Fetch(s.dev, u.targets); err != nil {
		return fmt.Errorf("errors of a batch: %w", err)
	}
	for i, y := range u.targets.Data {
		sum := 0.0
		for j := i; j < len(u.qData); j += size {
			sum += float64(u.qData[j])
		}
		dst[i] = float32(math.Abs(sum/float64(s.config.Critics) - float64(y)))
	}
	return nil
}

// chooseSubset chooses K, the critics of this update's target.
func (s *SAC) chooseSubset() error {
	if s.choose != nil {
		return s.choose.Run(s.updates)
	}
	if s.members == nil {
		return nil
	}
	s.subsets.At(s.updates).Choose(s.subset, s.config.Critics)
	for i, member := range s.subset {
		s.members.Data[i] = float32(member)
	}
	return nil
}

func mean(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v)
	}
	return sum / float64(len(x))
}
