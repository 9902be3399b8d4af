package inspect

import (
	"fmt"
	"math"
	"time"

	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// price estimates the cost of switching to a function whose model does not exist yet. It
// builds such a model beside the run, times a unit or two of its work on real transitions,
// and discards it.
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
		rows := min(relevance.Slice(made, ScoreRows), p.View.Real.Len())
		p.View.Real.Gather(p.Scratch, 0, p.View.Real.Spread(rows))
		made.Begin(p.Scratch, rows)
		begin := p.Now()
		if err := made.Observe(p.Scratch, rows); err != nil {
			return err
		}
		took := p.Now().Sub(begin) * time.Duration(owed) / time.Duration(rows)
		looks, err := p.timeLooks(made)
		if err != nil {
			return err
		}
		p.sayPrice(fmt.Sprintf("%s has seen nothing yet: a switch shows it all %s transitions first", name, knob.FormatCount(owed)), took+looks)
	case relevance.Episodic:
		p.Cost = fmt.Sprintf("%s: its model is built and told of what is met from then on; before its first round fits are without conditions", name)
	case relevance.Trained:
		update, err := p.timeUpdate(made)
		if err != nil {
			return err
		}
		looks, err := p.timeLooks(made)
		if err != nil {
			return err
		}
		p.sayPrice(fmt.Sprintf("%s has no model yet: a switch builds it and trains it on %s real batches first", name, knob.FormatCount(owed)), time.Duration(owed)*update+looks)
	}
	return p.yield()
}

// timeLooks estimates the time in which a function of frames scores all transitions; it is 0 for
// other functions. Scoring frames costs a hundred times as much as scoring transitions, so the
// time of past refits says nothing about it.
func (p *preview) timeLooks(f relevance.Function) (time.Duration, error) {
	if _, sees := f.(relevance.Sighted); !sees {
		return 0, nil
	}
	begin, slots := p.Now(), p.View.Real.Spread(relevance.Slice(f, ScoreRows))
	if _, err := p.scoresOf(f, p.View.Real, slots); err != nil {
		return 0, err
	}
	return p.Now().Sub(begin) * time.Duration(p.View.Real.Len()) / time.Duration(len(slots)), p.yield()
}

// addFrames adds to the cost the estimated time in which a function of frames scores all
// transitions; took is the time in which it scored rows of them. Pseudo-counts must also observe
// all transitions, which takes about as long again.
func (p *preview) addFrames(f relevance.Function, took time.Duration, rows int) {
	if _, sees := f.(relevance.Sighted); !sees || relevance.LearnsFromMet(f) || p.Cost == "" {
		return
	}
	took = took * time.Duration(p.View.Real.Len()) / time.Duration(rows)
	if _, counts := f.(relevance.Counted); counts {
		took *= 2
	}
	p.Cost += fmt.Sprintf("; %s looks at all frames, about %s", f.Name(), roughly(took))
	p.CostSeconds += took.Seconds()
}

// timeUpdate makes two updates of a model that is not the run's and returns the time of the
// second one: the first update includes work that is done only once.
func (p *preview) timeUpdate(model relevance.Trained) (took time.Duration, err error) {
	mixer, batch, from := replay.NewMixer(p.Stream), model.Batch(), p.View.Real
	if relevance.LearnsFromMet(model) {
		from = p.View.Met
	}
	for made := range uint64(2) {
		begin := p.Now()
		if batch.Frames != nil { // any transitions will do, repeated if there are too few
			for at := 0; at < batch.Size; {
				slots := p.View.Real.Spread(batch.Size - at)
				p.View.Real.Gather(batch, at, slots)
				at += len(slots)
			}
		} else if err := mixer.Sample(batch, replay.Mix{Real: batch.Size}, from, nil, made); err != nil {
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

// sayPrice sets the cost of a switch.
func (p *preview) sayPrice(what string, took time.Duration) {
	p.Cost = fmt.Sprintf("%s, about %s", what, roughly(took))
	p.CostSeconds = took.Seconds()
	p.addRefit()
}

// priceReady sets the cost of switching to a function that has everything it needs.
func (p *preview) priceReady(name string) {
	p.Cost, p.CostSeconds = fmt.Sprintf("%s is ready", name), 0
	p.addRefit()
}

// addRefit adds the time of scoring, fit and generation, which a switch with "now" takes.
func (p *preview) addRefit() {
	if refit := p.CostRefit(); refit > 0 {
		p.Cost += fmt.Sprintf("; a refit takes about %s", roughly(refit))
		p.CostSeconds += refit.Seconds()
		return
	}
	p.Cost += "; how long a refit takes is not known before the first"
	p.CostSeconds = math.NaN()
}

// roughly returns a rounded duration as text.
func roughly(d time.Duration) string {
	switch {
	case d < time.Second:
		return "a second"
	case d < time.Minute:
		return d.Round(time.Second).String()
	}
	return d.Round(10 * time.Second).String()
}
