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
	"pgrlab/core/replica"
	"pgrlab/core/run"
)

// previewShare is how long a preview may hold up training between two of its slices. Commands
// are handled between the preview's own pieces too.
const previewShare = 200 * time.Millisecond

// restShare is the same once the value that was asked about is answered, and only those beside it are
// still to come.
const restShare = 50 * time.Millisecond

// aside is work that was asked for beside training: a preview, or an analysis, which training
// waits for. It reads the run between two slices and changes nothing in it.
type aside struct {
	preview *event.Preview // nil: it is an analysis
	shown   bool           // a part of the answer is there
	next    func() (error, bool)
	stop    func()
	answer  func(error) // called at the end; a nil error: the work is done
}

// newAside begins work; answer is called when the work is done or dropped.
func newAside(work inspect.Pieces, answer func(error)) *aside {
	a := &aside{answer: answer}
	a.next, a.stop = iter.Pull(work)
	return a
}

// asides do what is asked for beside training: one piece of work at a time, and the answers to
// Map, Watch and Dreams. They read the members between two slices; lines and snapshots carry the
// results.
type asides struct {
	common
	steering *steering
	views    *views
	members  []*replica.Replica

	work     *aside   // nil: nothing is under way
	probe    *aside   // a Ground, which waits for work; nil: none is under way
	probing  *probing // what it has found so far
	past     func() []event.Event
	mapped   *event.Mapped // the answer to the last Map; nil: none
	moment   *event.Moment // and to the last Watch
	dreamt   *event.Dreamt // and to the last Dreams
	dreams   inspect.Dreams
	previews uint64 // how many were begun
	strips   inspect.Strips
}

// errAnalysing answers previews during an analysis: both draw from the generator.
var errAnalysing = errors.New("an analysis is under way: ask again when it is done")

// analysing says whether an analysis is under way.
func (a *asides) analysing() bool {
	return a.work != nil && a.work.preview == nil || a.place.position.Phase == knob.Analyse
}

// idle says whether nothing is under way.
func (a *asides) idle() bool { return a.work == nil && a.probe == nil }

// advance does one piece of the work under way. more says whether another piece may follow
// before training goes on; since is when training began to wait.
func (a *asides) advance(ctx context.Context, since time.Time) (more bool) {
	of := &a.work
	if *of == nil {
		of = &a.probe
	}
	w := *of
	if w == nil || ctx.Err() != nil {
		return false
	}
	begin := a.now()
	err := a.place.guarded(func() (err error) { err, more = w.next(); return err })
	if err != nil || !more {
		*of = nil
		w.stop()
		w.answer(err)
	}
	now := a.now()
	a.meter.Elsewhere(now.Sub(begin))
	if w.preview != nil || of == &a.probe {
		share := previewShare
		if w.shown {
			share = restShare
		}
		return a.gate.waits(ctx) || now.Sub(since) < share
	}
	return a.gate.waits(ctx) || a.work != nil
}

// drop ends the work under way, if there is any, and answers with why.
func (a *asides) drop(why error) { end(&a.work, why) }

// dropAll ends the probe as well.
func (a *asides) dropAll(why error) {
	a.drop(why)
	end(&a.probe, why)
}

func end(of **aside, why error) {
	if w := *of; w != nil {
		*of = nil
		w.stop()
		w.answer(why)
	}
}

// errPreviewing answers a preview while another sender's is under way. If that one were dropped,
// its sender would wait for it for ever.
var errPreviewing = errors.New("a preview of another screen is under way: ask again when it is done")

// preview begins a preview, or answers why it cannot. It replaces one of the same sender that is
// not answered yet.
func (a *asides) preview(c event.Preview) {
	out, began := inspect.Unknown(), a.now()
	out.ID, out.Knob, out.Value = c.ID, c.Knob, c.Value
	answer := func(err error) {
		if err != nil {
			out.More, out.Err, out.Busy = false, err.Error(), errors.Is(err, errAnalysing) || errors.Is(err, errPreviewing) || errors.Is(err, errRefitting)
		}
		out.Seconds = a.now().Sub(began).Seconds()
		a.journal.emit(event.TypePreviewed, a.members[0].Index, out)
	}
	part := func() {
		a.work.shown = true
		out.Seconds = a.now().Sub(began).Seconds()
		a.journal.emit(event.TypePreviewed, a.members[0].Index, out)
	}
	if w := a.work; w != nil && w.preview != nil {
		if w.preview.Sender() != c.Sender() {
			answer(errPreviewing)
			return
		}
		a.work = nil
		w.stop()
	}
	a.previews++
	work, err := a.previewWork(c, &out, part)
	if err != nil {
		answer(err)
		return
	}
	a.work = newAside(work, answer)
	a.work.preview = &c
}

func (a *asides) previewWork(c event.Preview, out *event.Previewed, part func()) (inspect.Pieces, error) {
	if err := a.gate.absent(); err != nil {
		return nil, err
	}
	if a.analysing() {
		return nil, errAnalysing
	}
	if err := a.apart(); err != nil {
		return nil, err
	}
	k, v, err := a.steering.config.ParseChange(c.Knob, c.Value)
	if err != nil {
		return nil, err
	}
	m := a.members[0]
	return inspect.Preview(a.views.of(m), subject{&m.Functions, m, a, part}, k, v, a.previews, &a.strips, out)
}

// fitted begins the preview under way again with the generator that has been fitted: its transitions
// would otherwise come from two.
func (a *asides) fitted() {
	a.strips.Forget()
	a.restartPreview()
}

// restartPreview begins the preview under way again, as after a change of a knob.
func (a *asides) restartPreview() {
	if a.work != nil && a.work.preview != nil {
		a.preview(*a.work.preview)
	}
}

// analyseNow begins an analysis that by asked for, or refuses it.
func (a *asides) analyseNow(by string) {
	refuse := func(err error) { a.journal.refuse("", "analyse", "", by, err) }
	if err := a.canAnalyse(); err != nil {
		refuse(err)
		return
	}
	a.drop(errAnalysing)
	begin := a.now()
	var found []*event.Examined
	work := func(yield func(error) bool) {
		for _, m := range a.members {
			v := a.views.of(m)
			if a.place.position.Phase == knob.Generate {
				v.Prompts.Known = false // they belong to the generation under way
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
	a.work = newAside(work, func(err error) {
		if err != nil {
			refuse(err)
			return
		}
		for i, m := range a.members {
			found[i].Obs = &event.ExaminedObs{OnDemand: true, By: by, Seconds: run.Float(a.now().Sub(begin).Seconds())}
			a.journal.emit(event.TypeExamined, m.Index, found[i])
		}
	})
}

func (a *asides) canAnalyse() error {
	least, _ := realRows(a.members)
	switch {
	case a.gate.absent() != nil:
		return a.gate.absent()
	case a.analysing():
		return errors.New("an analysis is under way: it is a line of the journal when it is done")
	case least < inspect.MinRows:
		return fmt.Errorf("there are %d transitions yet: want at least %d", least, inspect.MinRows)
	}
	return a.apart()
}
