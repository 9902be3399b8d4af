package lab

import (
	"time"

	"pgrlab/core/checkpoint"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/replica"
	"pgrlab/core/run"
)

// goOn gives the lab its folder: the folder's events become the lab's, the changes after the
// checkpoint are scheduled, a new checkpoint records that, and only then is the journal cut. It
// can be interrupted at any point and done again.
func (r *resuming) goOn(l *Lab, how Resumption) error {
	x, mark := l.x, r.from.Journal
	r.readHistory(l, mark)
	again, err := r.looked(x, mark)
	if err != nil {
		return err
	}
	if how.DropTail { // also what an earlier resume from there repeats
		x.steering.schedule = knob.KnownAt(x.position, x.steering.schedule)
	} else {
		plans, err := r.repeatChanges(x, mark)
		if err != nil {
			return err
		}
		again = append(again, plans...)
	}
	w := run.NewWriter(r.folder, len(x.logs()))
	r.inherit(w, x)
	x.resumed, x.elapsed = &r.from, seconds(float64(r.from.WallS))
	x.journal.start = x.now().Add(-x.elapsed)
	x.checkpoints.begin(w, how.Saving)
	if how.Config != nil {
		if err := r.folder.Reconfigure(how.Config); err != nil {
			return err
		}
	}
	c, err := x.checkpoints.capture("resume")
	if err != nil {
		return err
	}
	c.Journal = mark
	done := w.Write(&c.Capture)
	if done.Err != nil {
		return done.Err
	}
	x.checkpoints.path, x.checkpoints.saved = done.Path, x.position
	x.checkpoints.totals = w.Totals()
	if how.At != nil || r.ended || r.passed {
		aside, err := r.folder.SetAside(done.Path)
		if err != nil {
			return err
		}
		if aside != "" {
			r.say("the checkpoints after %s are in %s", x.position, aside)
		}
	}
	tail, err := r.folder.Rewind(mark)
	if err != nil {
		return err
	}
	if tail != "" {
		r.say("goes on after position %s; what the journal held after it is in %s", x.position, tail)
	}
	if err := r.appendLines(l, again); err != nil {
		return err
	}
	x.journal.folder = r.folder
	x.publish(time.Time{})
	return nil
}

// readHistory turns the journal's lines up to mark into the lab's events.
func (r *resuming) readHistory(l *Lab, mark run.Mark) {
	err := r.folder.History(mark, func(e run.Entry) error {
		if past, ok := event.Decode(e); ok {
			past.Wall = l.x.now().Add(-seconds(float64(r.from.WallS) - e.WallS))
			l.log(past)
		}
		return nil
	})
	if err != nil {
		r.say("the journal before the checkpoint: %s: the screen lacks what follows", err)
	}
}

// appendLines writes lines into the journal and the lab's log.
func (r *resuming) appendLines(l *Lab, lines []run.Line) error {
	for _, line := range lines {
		if err := r.folder.Append(line); err != nil {
			return err
		}
		l.log(event.Event{Wall: l.x.now(), Type: line.Type, Step: line.Step, Member: line.Member, Body: line.Body})
	}
	return nil
}

// looked returns what holds for the run that goes on, although the journal has it after mark: the
// analyses that someone asked for and that are of the run at the checkpoint or before, the forks that
// were made, and what they showed.
func (r *resuming) looked(x *experiment, mark run.Mark) (lines []run.Line, err error) {
	err = r.folder.Tail(mark, func(e run.Entry) {
		if e.Type == event.TypeFork || e.Type == event.TypeForkLook {
			if made, ok := event.DecodeRaw(e); ok {
				lines = append(lines, run.Line{Type: e.Type, Step: x.Step, Member: e.Member, Body: made.Body, WallS: float64(r.from.WallS)})
			}
			return
		}
		if e.Type != event.TypeExamined || e.Step > x.Step {
			return
		}
		if asked, ok := event.Decode(e); ok {
			if found := asked.Body.(*event.Examined); found.Obs != nil && found.Obs.OnDemand {
				lines = append(lines, run.Line{Type: e.Type, Step: e.Step, Member: e.Member, Body: found, WallS: e.WallS})
			}
		}
	}, func(int) {})
	return lines, err
}

// inherit gives the writer what is on the disk already.
func (r *resuming) inherit(w *run.Writer, x *experiment) {
	for _, d := range r.from.Data {
		for i, l := range x.logs() {
			if d.Name == l.Name {
				w.InheritLog(i, d.Pieces, l.Rows.Total())
			}
		}
		for _, m := range x.members {
			pinned, _ := m.Observed.Pinned()
			switch d.Name {
			case m.Named(replica.SectionPinned):
				w.InheritShared(d.Name, pinned.Key(), d.Pieces[0])
			case m.Named(replica.SectionSynthetic), m.Named(replica.SectionSynthetic + checkpoint.RebuildSuffix):
				w.InheritShared(m.Named(replica.SectionSynthetic), m.Synthesis.Kept(), d.Pieces[0])
			case m.Named(replica.SectionFresh + checkpoint.RebuildSuffix):
				w.InheritShared(m.Named(replica.SectionFresh), m.Synthesis.FreshSpec, d.Pieces[0])
			}
		}
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
