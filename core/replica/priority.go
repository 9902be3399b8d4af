package replica

import (
	"pgrlab/core/config"
	"pgrlab/core/replay"
)

// beta is the exponent of the importance weights in the present env step.
func (r *Replica) beta(now Now) float64 {
	return config.FirstBeta + (1-config.FirstBeta)*float64(now.Step)/float64(r.Config.Steps)
}

// sampleBatch fills a batch: mixed by r, or by priority.
func (r *Replica) sampleBatch(now Now, b *replay.Batch, mix replay.Mix) error {
	if r.priorities != nil {
		return r.priorities.Sample(b, r.Real, r.beta(now), r.Updates)
	}
	if err := r.mixer.Sample(b, mix, r.Real, r.Synthetic, r.Updates); err != nil {
		return err
	}
	r.samplePrior(now, b, mix, r.streams.prior.At(r.Updates))
	return nil
}

// prioritise sets the priorities of the transitions in the batch that was just trained on. The
// priority of every other transition dates from its last batch.
func (r *Replica) prioritise(b *replay.Batch) error {
	if r.priorities == nil {
		return nil
	}
	r.curious = resized(r.curious, b.Size)
	if r.Config.Replay.Priority == config.PriorityTD {
		if err := r.Agent.Batches.Errors(r.curious, b.Size); err != nil {
			return err
		}
	} else {
		f := r.Functions.built[r.Config.Replay.Priority]
		if err := f.Score(r.curious, b, b.Size); err != nil {
			return err
		}
		scale := float32(f.Scale)
		for i := range r.curious {
			r.curious[i] *= scale
		}
	}
	r.priorities.Update(r.curious)
	return nil
}
