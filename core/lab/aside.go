package lab

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// previewShare is how long a preview may hold up training between two slices of it.
// Commands are handled between the preview's own pieces too.
const previewShare = 200 * time.Millisecond

// aside is work that was asked for beside training: a preview, or an analysis, which
// training waits for. It reads the run between two slices and changes nothing of it.
type aside struct {
	preview *event.Preview // nil: it is an analysis
	next    func() (error, bool)
	stop    func()
	answer  func(error) // nil: the work is done
}

// newAside begins work; what it answers with is said when it is done, or dropped.
func newAside(work inspect.Pieces, answer func(error)) *aside {
	a := &aside{answer: answer}
	a.next, a.stop = iter.Pull(work)
	return a
}

// analysing says whether an analysis is under way.
func (x *experiment) analysing() bool {
	return x.aside != nil && x.aside.preview == nil || x.position.Phase == knob.Analyse
}

// advanceAside makes one piece of the work under way; more says whether another one may
// follow before training goes on, which began to wait at since.
func (x *experiment) advanceAside(ctx context.Context, since time.Time) (more bool) {
	a := x.aside
	if a == nil || ctx.Err() != nil {
		return false
	}
	begin := x.now()
	err := x.guarded(func() (err error) { err, more = a.next(); return err })
	if err != nil || !more {
		x.aside = nil
		a.stop()
		a.answer(err)
	}
	now := x.now()
	x.meter.Elsewhere(now.Sub(begin))
	if a.preview != nil {
		return x.gate.waits(ctx) || now.Sub(since) < previewShare
	}
	return x.gate.waits(ctx) || x.aside != nil
}

// dropAside ends the work under way, if there is any, and says why.
func (x *experiment) dropAside(why error) {
	if a := x.aside; a != nil {
		x.aside = nil
		a.stop()
		a.answer(why)
	}
}

// errPreviewing answers a preview while that of another sender is under way, which would
// wait for ever for its own if it were dropped.
var errPreviewing = errors.New("a preview of another screen is under way: ask again when it is done")

// preview begins a preview, or answers why there is none. It takes the place of one of
// the same sender that is not answered yet.
func (x *experiment) preview(c event.Preview) {
	out, began := inspect.Unknown(), x.now()
	out.ID, out.Knob, out.Value = c.ID, c.Knob, c.Value
	answer := func(err error) {
		if err != nil {
			out.Err, out.Busy = err.Error(), errors.Is(err, errAnalysing) || errors.Is(err, errPreviewing)
		}
		out.Seconds = x.now().Sub(began).Seconds()
		x.emit(event.TypePreviewed, x.first().index, out)
	}
	if a := x.aside; a != nil && a.preview != nil {
		if a.preview.Sender() != c.Sender() {
			answer(errPreviewing)
			return
		}
		x.aside = nil
		a.stop()
	}
	x.previews++
	work, err := x.previewWork(c, &out)
	if err != nil {
		answer(err)
		return
	}
	x.aside = newAside(work, answer)
	x.aside.preview = &c
}

func (x *experiment) previewWork(c event.Preview, out *event.Previewed) (inspect.Pieces, error) {
	if err := x.gate.absent(); err != nil {
		return nil, err
	}
	if x.analysing() {
		return nil, errAnalysing
	}
	k, v, err := x.steering.check(c.Knob, c.Value)
	if err != nil {
		return nil, err
	}
	m := x.first()
	return inspect.Preview(x.view(m), source{x, m}, k, v, x.previews, out)
}

// restartPreview makes a preview's transitions anew where a fit was completed
// meanwhile: they would be of two generators.
func (x *experiment) restartPreview() {
	if x.aside != nil && x.aside.preview != nil {
		x.preview(*x.aside.preview)
	}
}

// analyseNow begins an analysis that by asked for, or refuses it.
func (x *experiment) analyseNow(by string) {
	refuse := func(err error) { x.journal.refuse("", "analyse", "", by, err) }
	if err := x.canAnalyse(); err != nil {
		refuse(err)
		return
	}
	x.dropAside(errAnalysing)
	begin := x.now()
	var found []*event.Examined
	work := func(yield func(error) bool) {
		for _, m := range x.members {
			v := x.view(m)
			if x.position.Phase == knob.Generate {
				v.Prompts.Known = false // they are those of the generation under way
			}
			one := &event.Examined{}
			for err := range inspect.Examine(v, inspect.DefaultExamination(), nil, one) {
				if !yield(err) || err != nil {
					return
				}
			}
			found = append(found, one)
		}
	}
	x.aside = newAside(work, func(err error) {
		if err != nil {
			refuse(err)
			return
		}
		for i, m := range x.members {
			found[i].Obs = &event.ExaminedObs{OnDemand: true, By: by, Seconds: run.Float(x.now().Sub(begin).Seconds())}
			x.emit(event.TypeExamined, m.index, found[i])
		}
	})
}

func (x *experiment) canAnalyse() error {
	switch {
	case x.gate.absent() != nil:
		return x.gate.absent()
	case x.analysing():
		return errors.New("an analysis is under way: it is a line of the journal when it is done")
	case x.first().real.Len() < inspect.MinRows:
		return fmt.Errorf("there are %d transitions yet: want at least %d", x.first().real.Len(), inspect.MinRows)
	}
	return nil
}
