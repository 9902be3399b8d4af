package lab

import "pgrlab/core/agent"

// wholeLearner is a learner that may make all updates of an env step at once, on batches
// that it draws itself; agent.SAC in a real run.
type wholeLearner interface {
	// Whole says whether UpdateN is more than Updates one after the other.
	Whole() bool
	// UpdateN makes n updates. What it returns is valid until the next call.
	UpdateN(n int, d agent.BatchSource, live agent.Rates) ([]agent.UpdateResult, error)
}

// whole says whether the updates of an env step are made at once: where the device can,
// and nothing of the method looks at a batch between drawing it and training on it, as
// priorities and a bonus do.
func (x *experiment) whole() bool {
	if x.config.Replay.prioritized() || x.config.Bonus.given() {
		return false
	}
	a, can := x.first().agent.(wholeLearner)
	return can && a.Whole()
}

// trainWhole makes the updates of the env step, member after member. Models that are
// trained beside the agent see nothing of it, and come behind it, in the order in which
// they would have come between its updates.
func (x *experiment) trainWhole() error {
	for _, m := range x.members {
		if !x.training(m) {
			continue
		}
		begin := x.now()
		mix := x.mix(m)
		x.mixed(m, mix)
		made, err := m.agent.(wholeLearner).UpdateN(x.Settings.UTD, agent.BatchSource{
			Mixer: m.mixer, Real: m.real, Synthetic: m.synthetic, Mix: mix, First: m.Updates,
		}, rates(&x.Settings))
		if err != nil {
			return err
		}
		begin = x.meter.on(partAgent, begin)
		for i := range made {
			if err := x.learned(m, &made[i]); err != nil {
				return err
			}
			if err := x.trainModels(m, i == len(made)-1); err != nil {
				return err
			}
		}
		x.meter.on(partModels, begin)
	}
	return nil
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

// drawn is what the member's agent will be asked for where it draws batches itself; nil
// where it does not. No run makes more real transitions than it makes steps.
func (x *experiment) drawn(m *member) *agent.SourceSize {
	if !x.whole() {
		return nil
	}
	d := &agent.SourceSize{Updates: x.Settings.UTD, Mixer: m.mixer, Real: min(x.config.Buffer, x.config.Steps)}
	if x.config.generates() {
		d.Synthetic = x.Settings.Samples
	}
	return d
}
