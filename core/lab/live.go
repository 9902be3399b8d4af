package lab

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// looking is an analysis on demand under way: a coroutine that stops after each piece.
type looking struct {
	by    string
	begin time.Time
	next  func() (found []*event.Examined, more bool)
	stop  func()
	err   error
}

// errLeft ends a coroutine that is not waited for any more.
var errLeft = errors.New("the analysis was left")

// look begins an analysis, or refuses it.
func (x *experiment) look(by string) {
	err := x.canLook()
	if err != nil {
		x.refuse("", "analyse", "", by, err)
		return
	}
	if x.previewing != nil {
		x.answerPreview(errAnalysing)
	}
	l := &looking{by: by, begin: x.now()}
	l.next, l.stop = iter.Pull(func(yield func([]*event.Examined) bool) {
		breathe := func() error {
			if !yield(nil) {
				return errLeft
			}
			return nil
		}
		var found []*event.Examined
		for _, m := range x.members {
			e := x.examining(m, m.f, x.Settings, DefaultExamination(), breathe)
			if x.position.Phase == knob.Generate {
				e.asked.Known = false // the prompts are those of the generation under way
			}
			one, err := e.all(nil)
			if err != nil {
				l.err = err
				return
			}
			found = append(found, one)
		}
		yield(found)
	})
	x.looking = l
}

func (x *experiment) canLook() error {
	switch {
	case x.absent() != nil:
		return x.absent()
	case x.looking != nil || x.position.Phase == knob.Analyse:
		return errors.New("an analysis is under way: it is a line of the journal when it is done")
	case x.first().real.Len() < leastExamined:
		return fmt.Errorf("there are %d transitions yet: want at least %d", x.first().real.Len(), leastExamined)
	}
	return nil
}

// advanceLook makes one piece of the analysis under way; more says that training waits
// for another one.
func (x *experiment) advanceLook(ctx context.Context) (more bool) {
	l := x.looking
	if l == nil || ctx.Err() != nil {
		return false
	}
	begin := x.now()
	var found []*event.Examined
	err := x.guarded(func() error {
		found, more = l.next()
		return l.err
	})
	now := x.now()
	x.meter.elsewhere(now.Sub(begin))
	switch {
	case err != nil || !more:
		x.leaveLook()
		x.refuse("", "analyse", "", l.by, err)
	case found != nil:
		x.leaveLook()
		for i, m := range x.members {
			found[i].Obs = &event.ExaminedObs{OnDemand: true, By: l.by, Seconds: run.Float(now.Sub(l.begin).Seconds())}
			x.emit(event.TypeExamined, m.index, found[i])
		}
	}
	return x.looking != nil || x.waits(ctx)
}

// leaveLook forgets the analysis under way, if there is one.
func (x *experiment) leaveLook() {
	if x.looking != nil {
		x.looking.stop()
		x.looking = nil
	}
}
