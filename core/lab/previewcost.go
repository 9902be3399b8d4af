package lab

import (
	"fmt"
	"math"
	"time"

	"pgrlab/core/replay"
)

// built says whether the member has everything that the function of that name needs.
func (x *experiment) built(m *member, name string) bool {
	return name != relevanceCuriosity || m.model != nil
}

// owedUpdates are the updates that a model makes up for before the next scoring.
func (x *experiment) owedUpdates(m *member) int {
	return min(m.ModelMissed, x.config.Curiosity.Warmup)
}

// priceOf lists the slices that find out what switching to a function costs whose
// model does not exist: such a model is built beside everything, two updates on real
// transitions are made, the second one is timed, and all of it is thrown away.
func (x *experiment) priceOf(p *preview, name string) error {
	m := p.member
	model, err := x.parts.curiosity(m.seed)
	if err != nil {
		return err
	}
	p.release = func() { model.Close() }
	if m.real.Len() == 0 {
		p.Cost = fmt.Sprintf("%s: its model is built and learns from the first update on", name)
		return nil
	}
	mixer := replay.NewMixer(m.streams.preview)
	batch, made := model.Batch(), uint64(0)
	p.slices = append(p.slices, func() (bool, error) {
		begin := x.now()
		if err := mixer.Draw(batch, replay.Mix{Real: batch.Size}, m.real, nil, made); err != nil {
			return false, err
		}
		if _, err := model.Train(); err != nil {
			return false, err
		}
		if made++; made < 2 {
			return false, nil
		}
		x.sayPrice(p, name, x.now().Sub(begin))
		return true, nil
	})
	return nil
}

// sayPrice puts the cost of a switch into words; update is the time of one of the
// model's updates.
func (x *experiment) sayPrice(p *preview, name string, update time.Duration) {
	owed := x.owedUpdates(p.member)
	warm := time.Duration(owed) * update
	p.Cost = fmt.Sprintf("%s has no model yet: a switch builds it and trains it on %s real batches first, about %s", name, thousands(owed), roughly(warm))
	p.CostSeconds = warm.Seconds()
	x.addRefit(p)
}

// priceBuilt is the cost of switching to a function that exists.
func (x *experiment) priceBuilt(p *preview, name string) {
	p.Cost, p.CostSeconds = fmt.Sprintf("%s is ready", name), 0
	x.addRefit(p)
}

// addRefit adds what scoring, fit and generation take with "now".
func (x *experiment) addRefit(p *preview) {
	if refit := x.costRefit(); refit > 0 {
		p.Cost += fmt.Sprintf("; a refit takes about %s", roughly(refit))
		p.CostSeconds += refit.Seconds()
		return
	}
	p.Cost += "; how long a refit takes is not known before the first"
	p.CostSeconds = math.NaN()
}

// roughly is a duration as people say it.
func roughly(d time.Duration) string {
	switch {
	case d < time.Second:
		return "a second"
	case d < time.Minute:
		return d.Round(time.Second).String()
	}
	return d.Round(10 * time.Second).String()
}
