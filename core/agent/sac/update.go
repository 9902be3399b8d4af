package sac

import (
	"errors"
	"fmt"
	"math"

	"pgrlab/core/agent"
	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// keptSizes is how many batch sizes stay compiled: a user who turns a knob goes back
// and forth between a few.
const keptSizes = 4

// updaterKey is what an updater's programs depend on.
type updaterKey struct {
	size    int  // of a batch
	sampled bool // batches are sampled from rings; otherwise the caller fills them
}

// updater holds the programs of one batch size. They share the batch's memory and
// all parameters.
type updater struct {
	batch                        *replay.Batch
	obs, act, reward, next, done *op.Tensor
	weight                       *op.Tensor // importance of each row; nil if all count alike
	targets                      *op.Tensor // y of the last update

	sampler stage // samples the batches, as the first stage of each update; nil if the caller fills them
	from    drawn // what sampler samples from

	learn                 *plan.Program // target and critic in one
	target, actor, critic *plan.Program
	alpha                 stage      // α's step
	logp                  *op.Tensor // [B,1], output of actor for α's step on a device; else nil
	learnQ, criticQ       *op.Node   // Q(s,a) of learn and critic
	q                     []float32  // of the last update

	ones  [2]*schedule // of one update, without and with the policy's step
	fused *schedule    // of all updates of an env step; nil: not compiled
}

// drawn is what an updater's sampler samples from. On the host the whole BatchSource is set;
// on a device, which has copies of the rings, only what its program was compiled with.
type drawn struct {
	agent.BatchSource
	stores int // rings.changed at the time when the program was compiled
}

// hostSampler fills an updater's batch on the host.
type hostSampler struct{ u *updater }

// Run fills the batch of that occasion.
func (x hostSampler) Run(occasion uint64) error {
	f := &x.u.from
	return f.Mixer.Sample(x.u.batch, f.Mix, f.Real, f.Synthetic, occasion)
}

// Batch returns the memory that an update of that size reads. The first call for a size
// compiles its programs. The memory stays valid until several other sizes were used.
func (s *Agent) Batch(size int) (*replay.Batch, error) {
	u, err := s.updater(size, false)
	if err != nil {
		return nil, err
	}
	return u.batch, nil
}

// Update makes one critic update on the contents of Batch(size). At every PolicyDelay-th
// update of an env step, and at its last, which the caller names, it also updates the
// policy and α. It reports whether the policy was stepped. It does not allocate.
//
// If a target, a loss or a gradient is not finite, the error wraps a *plan.NotFinite. The
// network that met it, and those whose turn comes after it, keep their weights; a policy
// that was stepped before that, which Update then reports, stays stepped. The update counts
// as made, and the agent can go on with the next one.
func (s *Agent) Update(size int, rates agent.Rates, last bool) (losses agent.Losses, stepped bool, err error) {
	u, err := s.updater(size, false)
	if err != nil {
		return agent.Losses{}, false, err
	}
	s.reserveResults(1)
	if _, err := s.execute(u, s.next(u, last), 0, rates, last, s.results); err != nil {
		return agent.Losses{}, false, err
	}
	made := &s.results[0]
	return made.Losses, made.Stepped, made.Err
}

// UpdateN makes n updates, each on a batch of the source; ends says that they end the env
// step. If they are all of the env step's updates and the device can (Fused), they are one
// launch. Otherwise, and after an update that stopped the launch, they run one by one. The
// results are valid until the next call. UpdateN does not allocate once it has made an env
// step of the same sizes.
func (s *Agent) UpdateN(n int, from agent.BatchSource, rates agent.Rates, ends bool) ([]agent.UpdateResult, error) {
	u, err := s.updaterFrom(from)
	if err != nil {
		return nil, err
	}
	s.reserveResults(n)
	for done := 0; done < n; {
		l, last := (*schedule)(nil), ends && done == n-1
		if s.Fused() && s.since == 0 && done == 0 && ends {
			last = true
			if l, err = s.fusedSchedule(u, n); err != nil {
				return nil, err
			}
		} else {
			l = s.next(u, last)
		}
		made, err := s.execute(u, l, from.First+uint64(done), rates, last, s.results[done:])
		if err != nil {
			return nil, err
		}
		done += made
	}
	return s.results, nil
}

// updaterFrom returns the updater for batches of a source.
func (s *Agent) updaterFrom(from agent.BatchSource) (*updater, error) {
	if s.rings != nil {
		if err := s.rings.follow(from); err != nil {
			if err := s.sampleOnHost(err); err != nil {
				return nil, err
			}
		}
	}
	u, err := s.updater(from.Mix.Size(), true)
	if err != nil {
		return nil, err
	}
	return u, s.sampleFrom(u, from)
}

// sampleFrom makes an updater's sampler sample from that source.
func (s *Agent) sampleFrom(u *updater, from agent.BatchSource) error {
	if s.rings == nil {
		u.from.BatchSource = from
		if u.sampler == nil {
			u.sampler = hostSampler{u}
		}
		return nil
	}
	if u.sampler != nil && u.from.stores == s.rings.changed && u.from.Mixer == from.Mixer {
		return nil
	}
	if err := u.closeSampler(); err != nil {
		return err
	}
	program, err := s.rings.program(u, from.Mixer)
	if err != nil {
		return err
	}
	u.sampler, u.from = program, drawn{agent.BatchSource{Mixer: from.Mixer}, s.rings.changed}
	return nil
}

func (s *Agent) reserveResults(n int) {
	if cap(s.results) < n {
		s.results = make([]agent.UpdateResult, n)
	}
	s.results = s.results[:n]
}

// next returns the schedule of the next update alone.
func (s *Agent) next(u *updater, last bool) *schedule {
	policy, i := s.policyDue(s.since+1, last), 0
	if policy {
		i = 1
	}
	if u.ones[i] == nil {
		u.ones[i] = s.newSchedule(u, policy)
	}
	return u.ones[i]
}

// fusedSchedule returns the schedule of the n updates of an env step, as one launch.
func (s *Agent) fusedSchedule(u *updater, n int) (*schedule, error) {
	if u.fused != nil && len(u.fused.places) == n {
		return u.fused, nil
	}
	if err := u.closeFused(); err != nil {
		return nil, err
	}
	policy := make([]bool, n)
	for i := range policy {
		policy[i] = s.policyDue(i+1, i == n-1)
	}
	l := s.newSchedule(u, policy...)
	programs := make([]*plan.Program, len(l.stages))
	for i, x := range l.stages {
		programs[i] = x.(*plan.Program) // such a device has one for every stage
	}
	var err error
	if l.fused, err = plan.NewSequence(s.rings.dev, programs); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	u.fused = l
	return l, nil
}

// updater returns the updater for batches of a size, which are either sampled or filled by
// the caller. The two are separate, because the host does not have what a device sampled.
func (s *Agent) updater(size int, sampled bool) (*updater, error) {
	if size < 1 {
		return nil, fmt.Errorf("agent: a batch of %d, want at least 1", size)
	}
	return s.updaters.Of(updaterKey{size, sampled})
}

func (s *Agent) newUpdater(k updaterKey) (*updater, error) {
	size := k.size
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
	if err := s.compileUpdater(u); err != nil {
		return nil, errors.Join(err, u.Close())
	}
	return u, nil
}

// compileUpdater compiles the programs of an updater.
func (s *Agent) compileUpdater(u *updater) (err error) {
	var logp *op.Node
	for _, p := range []struct {
		name  string
		to    **plan.Program
		build func(g *op.Graph) plan.Spec
	}{
		{"target and critic", &u.learn, func(g *op.Graph) (spec plan.Spec) {
			target, y := s.buildTarget(g, u)
			spec, u.learnQ = s.buildCritic(g, u, g.StopGradient(y))
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
			spec, u.criticQ = s.buildCritic(g, u, g.Bind(u.targets))
			return spec
		}},
	} {
		if *p.to, err = plan.Build(p.name, s.dev, p.build); err != nil {
			return err
		}
	}
	if u.logp == nil {
		u.alpha = &hostAlpha{t: s.temp, logp: u.actor.Data(logp)}
		return nil
	}
	u.alpha, err = s.temp.program(u.logp)
	return err
}

// values returns Q(s,a) of the critic's step at stage i, from before that step.
func (u *updater) values(l *schedule, i int) []float32 {
	q := u.criticQ
	if l.stages[i] == stage(u.learn) {
		q = u.learnQ
	}
	if l.fused != nil {
		return l.fused.Data(i, q)
	}
	return l.stages[i].(*plan.Program).Data(q)
}

// Close frees the compiled programs.
func (u *updater) Close() error {
	alpha, _ := u.alpha.(*plan.Program)
	return errors.Join(u.closeSampler(), plan.Close(u.learn, u.target, u.actor, alpha, u.critic))
}

// closeSampler closes the sampler and the schedules that contain it.
func (u *updater) closeSampler() error {
	if err := u.closeFused(); err != nil {
		return err
	}
	program, _ := u.sampler.(*plan.Program)
	u.sampler, u.ones = nil, [2]*schedule{}
	return program.Close()
}

func (u *updater) closeFused() error {
	l := u.fused
	u.fused = nil
	return l.close()
}

// Errors writes |mean over critics of Qⱼ(s,a) − y| for the rows of the last update, which
// must have had that size, to dst [size]. The critics are those before their step. These
// are the priorities of prioritized sampling.
func (s *Agent) Errors(dst []float32, size int) error {
	u := s.updaters.Newest()
	if u == nil || u.batch.Size != size || len(dst) < size {
		return fmt.Errorf("errors of a batch: the last update was not one of %d rows", size)
	}
	if err := plan.Fetch(s.dev, u.targets); err != nil {
		return fmt.Errorf("errors of a batch: %w", err)
	}
	for i, y := range u.targets.Data {
		sum := 0.0
		for j := i; j < len(u.q); j += size {
			sum += float64(u.q[j])
		}
		dst[i] = float32(math.Abs(sum/float64(s.config.Critics) - float64(y)))
	}
	return nil
}
