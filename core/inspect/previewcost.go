package inspect

import (
	"fmt"
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
	defer made.State.Close()
	if p.View.Real.Len() == 0 {
		p.Cost = fmt.Sprintf("%s: its model is built and learns from the first update on", name)
		return nil
	}
	if err := p.yield(); err != nil {
		return err
	}
	var what string
	var warm, score time.Duration // of a unit and of a row
	switch {
	case made.Counts != nil:
		what = "has seen nothing yet: a switch shows it all %s transitions first"
		rows := min(made.AtOnce(ScoreRows), p.View.Real.Len())
		p.View.Real.Gather(p.Scratch, 0, p.View.Real.Spread(rows))
		made.Counts.Begin(p.Scratch, rows)
		begin := p.Now()
		if err := made.Counts.Observe(p.Scratch, rows); err != nil {
			return err
		}
		warm = p.Now().Sub(begin) / time.Duration(rows)
	case made.Rounds != nil:
		p.Cost = fmt.Sprintf("%s: its model is built and is given what is met from then on; before its first round fits are without conditions", name)
		return p.yield()
	case made.Known != nil:
		p.Cost = fmt.Sprintf("%s: it is known from the generator's first fit on; until then fits are without conditions", name)
		return p.yield()
	case made.Steps != nil:
		what = "has no model yet: a switch builds it and trains it on %s real batches first"
		if warm, err = p.timeUpdate(made); err != nil {
			return err
		}
	default:
		return p.yield()
	}
	if made.Sees { // the time of past refits says nothing about it
		begin, slots := p.Now(), p.View.Real.Spread(made.AtOnce(ScoreRows))
		if _, err := p.scoresOf(made, p.View.Real, slots); err != nil {
			return err
		}
		score = p.Now().Sub(begin) / time.Duration(len(slots))
	}
	p.sayCost(name, fmt.Sprintf(what, knob.FormatCount(p.Owed(name, p.View.Real.Len()))), score, warm)
	return p.yield()
}

// sayCost sets the cost of a switch to the function of that name: a refit with it, in which a row and
// a unit of work that its model owes take that long; 0: as in the run.
func (p *preview) sayCost(name, what string, score, warm time.Duration) {
	refit := p.RefitTakes(name, score, warm)
	if relevance.IsFormula(name) {
		name = "the formula"
	}
	p.Cost = name + " " + what
	if refit > 0 {
		p.Cost += fmt.Sprintf("; a refit with it takes about %s", roughly(refit))
		return
	}
	p.Cost += "; how long a refit takes is not known before the first"
}

// sayReady sets the cost of a switch to a function that has everything it needs.
func (p *preview) sayReady(name string) { p.sayCost(name, "is ready", 0, 0) }

// timeFrames takes into account, in the cost of a switch to a function of frames, that it scored so
// many rows in that time. Pseudo-counts must also observe all transitions, which takes about as long
// again.
func (p *preview) timeFrames(f *relevance.Model, took time.Duration, rows int) {
	if f.Sees && !f.LearnsFromMet && p.Cost != "" {
		row := took / time.Duration(rows)
		p.sayCost(f.Name(), "looks at all frames", row, row)
	}
}

// timeUpdate makes two updates of a model that is not the run's and returns the time of the
// second one: the first update includes work that is done only once.
func (p *preview) timeUpdate(model *relevance.Model) (took time.Duration, err error) {
	mixer, batch, from := replay.NewMixer(p.Stream), model.Steps.Batch(), replay.Rows(p.View.Real)
	if model.LearnsFromMet {
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
		} else if err := mixer.SampleFrom(batch, from, made); err != nil {
			return 0, err
		}
		if _, err := model.Steps.Train(); err != nil {
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
