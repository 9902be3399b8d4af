package inspect

import (
	"fmt"
	"math"
	"time"

	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// price finds out what switching to a function costs whose model does not exist: such
// a model is built beside everything, does a unit or two of its work on real transitions
// against the clock, and is thrown away.
func (p *preview) price(name string) error {
	made, err := p.NewModel(name)
	if err != nil {
		return err
	}
	defer made.Close()
	if p.View.Real.Len() == 0 {
		p.Cost = fmt.Sprintf("%s: its model is built and learns from the first update on", name)
		return nil
	}
	if err := p.yield(); err != nil {
		return err
	}
	owed := p.Owed(name)
	switch made := made.(type) {
	case relevance.Counted:
		rows := min(ScoreRows, p.View.Real.Len())
		p.View.Real.Gather(p.Scratch, 0, p.View.Real.Spread(rows))
		begin := p.Now()
		made.Begin(p.Scratch, rows)
		if err := made.Observe(p.Scratch, rows); err != nil {
			return err
		}
		took := p.Now().Sub(begin) * time.Duration(owed) / time.Duration(rows)
		p.sayPrice(fmt.Sprintf("%s has seen nothing yet: a switch shows it all %s transitions first", name, knob.FormatCount(owed)), took)
	case relevance.Trained:
		update, err := p.timeUpdate(made)
		if err != nil {
			return err
		}
		p.sayPrice(fmt.Sprintf("%s has no model yet: a switch builds it and trains it on %s real batches first", name, knob.FormatCount(owed)), time.Duration(owed)*update)
	}
	return p.yield()
}

// timeUpdate makes two updates of a model that is not the run's and returns what the
// second one took: the first builds what is built once.
func (p *preview) timeUpdate(model relevance.Trained) (took time.Duration, err error) {
	mixer, batch := replay.NewMixer(p.Stream), model.Batch()
	for made := range uint64(2) {
		begin := p.Now()
		if err := mixer.Sample(batch, replay.Mix{Real: batch.Size}, p.View.Real, nil, made); err != nil {
			return 0, err
		}
		if _, err := model.Train(); err != nil {
			return 0, err
		}
		took = p.Now().Sub(begin)
		if made == 0 {
			if err := p.yield(); err != nil {
				return 0, err
			}
		}
	}
	return took, nil
}

// sayPrice puts the cost of a switch into words.
func (p *preview) sayPrice(what string, took time.Duration) {
	p.Cost = fmt.Sprintf("%s, about %s", what, roughly(took))
	p.CostSeconds = took.Seconds()
	p.addRefit()
}

// priceReady is the cost of switching to a function that has all that it needs.
func (p *preview) priceReady(name string) {
	p.Cost, p.CostSeconds = fmt.Sprintf("%s is ready", name), 0
	p.addRefit()
}

// addRefit adds what scoring, fit and generation take with "now".
func (p *preview) addRefit() {
	if refit := p.CostRefit(); refit > 0 {
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
