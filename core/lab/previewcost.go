package lab

import (
	"fmt"
	"math"
	"time"

	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// priceOf lists the slices that find out what switching to a function costs whose
// model does not exist: such a model is built beside everything, does a unit or two of
// its work on real transitions against the clock, and is thrown away.
func (x *experiment) priceOf(p *preview, name string) error {
	m := p.member
	made, err := x.parts.build(name, m.seed)
	if err != nil {
		return err
	}
	p.release = func() { made.Close() }
	if m.real.Len() == 0 {
		p.Cost = fmt.Sprintf("%s: its model is built and learns from the first update on", name)
		return nil
	}
	owed := x.owed(m, name)
	switch made := made.(type) {
	case relevance.Counted:
		p.slices = append(p.slices, func() (bool, error) {
			rows := min(scoreRows, m.real.Len())
			m.real.Gather(m.scoring, 0, spread(m.real, rows))
			begin := x.now()
			made.Begin(m.scoring, rows)
			made.Observe(m.scoring, rows)
			took := x.now().Sub(begin) * time.Duration(owed) / time.Duration(rows)
			x.sayPrice(p, fmt.Sprintf("%s has seen nothing yet: a switch shows it all %s transitions first", name, knob.FormatCount(owed)), took)
			return true, nil
		})
	case relevance.Trained:
		p.slices = append(p.slices, x.timedUpdates(p, made, func(update time.Duration) {
			x.sayPrice(p, fmt.Sprintf("%s has no model yet: a switch builds it and trains it on %s real batches first", name, knob.FormatCount(owed)), time.Duration(owed)*update)
		}))
	}
	return nil
}

// timedUpdates makes two updates of a model that is not the run's; say gets the time
// of the second one.
func (x *experiment) timedUpdates(p *preview, model relevance.Trained, say func(update time.Duration)) func() (bool, error) {
	mixer, batch, made := replay.NewMixer(p.member.streams.preview), model.Batch(), uint64(0)
	return func() (bool, error) {
		begin := x.now()
		if err := mixer.Draw(batch, replay.Mix{Real: batch.Size}, p.member.real, nil, made); err != nil {
			return false, err
		}
		if _, err := model.Train(); err != nil {
			return false, err
		}
		if made++; made < 2 {
			return false, nil
		}
		say(x.now().Sub(begin))
		return true, nil
	}
}

// sayPrice puts the cost of a switch into words.
func (x *experiment) sayPrice(p *preview, what string, took time.Duration) {
	p.Cost = fmt.Sprintf("%s, about %s", what, roughly(took))
	p.CostSeconds = took.Seconds()
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
