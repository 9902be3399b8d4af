package lab

import "pgrlab/core/agent"

// fused says whether the updates of an env step are made at once: where the device can,
// and nothing of the method looks at a batch before or after it is trained on, as
// priorities and a bonus do.
func (x *experiment) fused() bool {
	learner, can := x.first().agent.(agent.OffPolicy)
	return can && learner.Fused() && !x.looksAtBatches()
}

// looksAtBatches says whether the method does.
func (x *experiment) looksAtBatches() bool {
	return x.config.Replay.Prioritized() || x.config.Bonus.Given()
}

// learned takes what one update made.
func (x *experiment) learned(m *member, made *agent.UpdateResult) error {
	m.Updates++
	if made.Err != nil {
		return x.diverged(m, "train agent", made.Err)
	}
	m.Losses.add(made.Losses, made.Stepped)
	return nil
}

// sourceSize is what the member's agent will be asked for where it has its batches
// sampled; nil where the lab fills them. No run makes more real transitions than
// env steps of its copies.
func (x *experiment) sourceSize(m *member) *agent.SourceSize {
	if x.looksAtBatches() {
		return nil
	}
	d := &agent.SourceSize{Updates: x.Settings.UTD, Mixer: m.mixer, Real: x.config.Collected()}
	if x.config.Generates() {
		d.Synthetic = x.Settings.Samples
	}
	return d
}
