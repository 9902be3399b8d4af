package replica

import (
	"pgrlab/core/agent"
	"pgrlab/core/knob"
	"pgrlab/core/replay"
)

// Update makes n updates of the agent on batches mixed by r: each is one update of the critics,
// and of the others where the agent's schedule has them (line 7 of Algorithm 1). last says that
// they end the env step. If n is more than one, nothing may look at a batch: see Fused. The
// results are for Learned, in order.
func (r *Replica) Update(now Now, n int, last bool) ([]agent.UpdateResult, error) {
	learner := r.Agent.Batches
	if learner == nil {
		return nil, nil
	}
	mix := r.mix(now)
	if r.looksAtBatches() {
		return r.updateOn(now, learner, mix, last)
	}
	r.noteMix(mix, 0)
	return learner.UpdateN(n, r.batchesOf(mix), Rates(now.Settings), last)
}

// updateOn makes one update on a batch that has priorities or a bonus.
func (r *Replica) updateOn(now Now, learner agent.Batches, mix replay.Mix, last bool) ([]agent.UpdateResult, error) {
	batch, err := learner.Batch(mix.Size())
	if err != nil {
		return nil, err
	}
	if err := r.sampleBatch(now, batch, mix); err != nil {
		return nil, err
	}
	if err := r.addBonus(now, batch); err != nil {
		return nil, r.diverged("add the bonus", err)
	}
	r.noteMix(mix, 0)
	made := &r.updated[0]
	if made.Losses, made.Stepped, made.Err = learner.Update(mix.Size(), Rates(now.Settings), last); made.Err != nil {
		return r.updated[:], nil
	}
	if err := r.prioritise(batch); err != nil {
		r.Updates++
		return nil, r.diverged("set priorities", err)
	}
	return r.updated[:], nil
}

// Learned takes the result of one update.
func (r *Replica) Learned(made *agent.UpdateResult) error {
	r.Updates++
	if made.Err != nil {
		return r.diverged("train agent", made.Err)
	}
	r.Losses.add(made.Losses, made.Stepped)
	return nil
}

// noteMix notes the mix of a batch that is about to be trained on, with an update that began that
// many units before the present slice.
func (r *Replica) noteMix(mix replay.Mix, ago int) {
	r.Host.Sampled(r.Index, mix, ago)
	r.Mix = mix
}

// work returns what the phases of a learner that has some work with now.
func (r *Replica) work(now Now) *agent.Work {
	r.working = agent.Work{Step: r.envStep(now), Refit: now.Refit, Enough: r.Enough(), Rates: Rates(now.Settings), Source: r.batchesOf(r.mix(now))}
	return &r.working
}

// Fused says whether the updates of an env step are made at once: if the device can, and nothing
// in the method looks at a batch before or after it is trained on, as priorities and a bonus do.
func (r *Replica) Fused() bool {
	return r.Agent.Batches != nil && r.Agent.Batches.Fused() && !r.looksAtBatches()
}

// looksAtBatches says whether the method looks at batches, or fills a part of them itself.
func (r *Replica) looksAtBatches() bool {
	return r.Config.Replay.Prioritized() || r.Config.Bonus.Given() || r.prior != nil
}

// SourceSize describes what the agent will be asked for if its batches are sampled for it; nil
// if they are filled by the replica. No run makes more real transitions than its copies make env
// steps.
func (r *Replica) SourceSize(s *knob.Settings) *agent.SourceSize {
	if r.looksAtBatches() {
		return nil
	}
	d := &agent.SourceSize{Updates: s.UTD, Mixer: r.mixer, Real: r.Config.Collected()}
	if r.Config.Generates() {
		d.Synthetic = s.Samples
	}
	return d
}

// batchesOf is what batches are sampled from.
func (r *Replica) batchesOf(mix replay.Mix) agent.BatchSource {
	return agent.BatchSource{Mixer: r.mixer, Real: r.Real, Synthetic: r.Synthetic, Frames: r.Frames(), Mix: mix, First: r.Updates}
}

// mix splits the next batch by r.
func (r *Replica) mix(now Now) replay.Mix {
	available := 0
	if r.Synthetic != nil {
		available = r.Synthetic.Len()
	}
	return r.Config.Mix(now.Settings, available)
}

// Rates are an agent's live settings.
func Rates(s *knob.Settings) agent.Rates {
	return agent.Rates{LRActor: s.LRActor, LRCritic: s.LRCritic, Tau: s.Tau, Entropy: s.Entropy}
}
