package lab

import (
	"cmp"
	"slices"
	"strings"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/core/source"
)

// repeatChanges schedules the changes made and the notes written after mark, except for those
// that are scheduled anyway.
//
// It returns the lines of what was planned and cancelled there, to be written again: no change that is
// made says who planned it when, and nothing else says that a change was cancelled.
func (r *resuming) repeatChanges(x *experiment, mark run.Mark) (plans []run.Line, err error) {
	t := tail{schedule: x.steering.schedule, pending: slices.Clone(x.steering.schedule), config: x.config}
	line := course{step: x.Step, copies: x.config.Environment.InLockstep(), begun: mark.Size > 0}
	damaged := func(number int) { r.say("line %d of the journal is damaged: a change may be missing", number) }
	err = r.folder.Tail(mark, func(e run.Entry) {
		body, ok := event.DecodeRaw(e) // raw: it is written again as it was
		if !ok {
			damaged(e.Number)
			return
		}
		if first := !line.left; line.leaves(body) {
			if first {
				r.say("line %d of the journal goes back to step %d: what stands from there on is left out", e.Number, e.Step)
			}
			return
		}
		s, ok, repeats := changeOf(body)
		if !repeats {
			return
		}
		if !ok {
			damaged(e.Number)
			return
		}
		t.take(e.Type, s)
		if line := (run.Line{Type: e.Type, Step: x.Step, Member: run.NoMember, WallS: float64(r.from.WallS)}); keeps(&line, body) {
			plans = append(plans, line)
		}
	}, damaged)
	if err != nil {
		return nil, err
	}
	if changes := changesOf(t.more); len(changes) > 0 {
		var texts []string
		for _, s := range changes[:min(len(changes), 5)] {
			texts = append(texts, s.String())
		}
		if len(changes) > 5 {
			texts = append(texts, "…")
		}
		r.say("does again what was changed after it: %s: --drop-tail leaves that out", strings.Join(texts, ", "))
	}
	x.steering.schedule = append(t.schedule, t.more...)
	knob.SortSchedule(x.steering.schedule)
	return plans, nil
}

// keeps gives a line the body of a plan or a cancellation, with the env step of e; it says whether e is
// one.
func keeps(line *run.Line, e event.Event) bool {
	switch b := e.Body.(type) {
	case event.Planned:
		b.Made = cmp.Or(b.Made, e.Step)
		line.Body = b
	case event.Cancelled:
		b.Made = cmp.Or(b.Made, e.Step)
		line.Body = b
	}
	return line.Body != nil
}

// tail collects what the journal holds after a checkpoint.
type tail struct {
	schedule []knob.Scheduled // of the checkpoint
	pending  []knob.Scheduled // of schedule and the plans in more: what no line has fulfilled or cancelled yet
	more     []knob.Scheduled // to schedule again
	config   *config.Config   // of the run, which plans changes too
}

// take takes the change or note of a line of that type. The schedule may have it already: it is then of
// a checkpoint that an interrupted resume has written.
func (t *tail) take(kind string, s knob.Scheduled) {
	switch kind {
	case event.TypeCancelled:
		if !slices.ContainsFunc(t.schedule, func(p knob.Scheduled) bool { return isIt(s, p) && p.Cancelled == s.Again }) {
			t.cancel(s)
		}
	case event.TypePlanned:
		if !t.holds(s) {
			t.pending, t.more = append(t.pending, s), append(t.more, s)
		}
	default:
		if i := slices.IndexFunc(t.pending, func(p knob.Scheduled) bool { return fulfils(s, p) && !p.IsCancelled() }); i >= 0 {
			t.pending = slices.Delete(t.pending, i, i+1)
		} else {
			t.more = append(t.more, s)
		}
	}
}

// holds says whether the schedule has the change that a person planned as s, put back by a resume.
func (t *tail) holds(s knob.Scheduled) bool {
	return slices.ContainsFunc(t.schedule, func(p knob.Scheduled) bool { return isPlan(s, p) })
}

// cancel marks the change that was cancelled as s, which stays in the schedule for runs that go on from
// a place before that.
func (t *tail) cancel(s knob.Scheduled) {
	waits := func(p knob.Scheduled) bool { return isIt(s, p) && !p.IsCancelled() }
	for _, all := range [][]knob.Scheduled{t.more, t.schedule} {
		if i := lastIndex(all, waits); i >= 0 {
			all[i].Cancelled = s.Again
			break
		}
	}
	if i := lastIndex(t.pending, waits); i >= 0 {
		t.pending = slices.Delete(t.pending, i, i+1)
	}
}

// lastIndex returns the index of the last element that match accepts; -1: there is none.
func lastIndex(all []knob.Scheduled, match func(knob.Scheduled) bool) int {
	for i, s := range slices.Backward(all) {
		if match(s) {
			return i
		}
	}
	return -1
}

// changeOf returns the change or note of a line, a planned or cancelled change at the position that it
// was planned for; repeats says that it is of a kind that is made again, whole that its checksum is right.
func changeOf(line event.Event) (s knob.Scheduled, whole, repeats bool) {
	sum := ""
	switch b := line.Body.(type) {
	case event.KnobChanged:
		s, sum = b.Scheduled(), b.Obs.Sum
		whole = sum == s.Sum()
		s.By, s.Undoes = cmp.Or(b.Obs.By, someone), b.Obs.Undoes
		if p := b.Obs.Plan; p != nil && s.By != bySchedule {
			whole = whole && !s.At.Before(*p)
			s.At, s.Planned, s.Again = *p, true, knob.After(line.Step)
		}
		return s, whole, true
	case event.Planned:
		s, sum = b.Scheduled(), b.Sum
		s.By, s.Planned, s.Again = cmp.Or(b.By, someone), true, knob.After(cmp.Or(b.Made, line.Step))
	case event.Cancelled:
		s, sum = b.Scheduled(), b.Sum
		s.Again = knob.After(cmp.Or(b.Made, line.Step))
	case event.Noted:
		if b.Obs.At == nil {
			return s, false, false // the run's own note: it comes again, or belongs to the interruption
		}
		s, sum = knob.Scheduled{At: *b.Obs.At, Note: b.Text, By: b.Obs.By}, b.Obs.Sum
	default:
		return s, false, false
	}
	return s, sum == s.Sum(), true
}

// course follows the steps of a journal, which only go forward, except for analyses of earlier
// places and after an env step that could not be made. A journal that goes back was put together
// from several.
type course struct {
	step   int
	copies int  // of the environment: an env step adds as many
	taken  int  // the step of the env step that was taken back last: lines after the one before it follow
	begun  bool // the run has its first line
	left   bool
}

// leaves says whether the journal has left its course with line e, or before it.
func (c *course) leaves(e event.Event) bool {
	switch {
	case e.Type == event.TypeStart:
		c.left = c.left || c.begun
		c.begun = true
	case e.Type != event.TypeExamined:
		takenBack := c.step == c.taken && e.Step == c.step-c.copies
		c.left = c.left || e.Step < c.step && !takenBack
		c.step = max(c.step, e.Step)
		if d, is := e.Body.(event.Diverged); is && d.Doing == source.Simulate {
			c.taken = e.Step
		}
	}
	return c.left
}

// fulfils says whether s, a change that was made or a note, is what was scheduled as p. A person may
// make at once the change that was planned and refused.
func fulfils(s, p knob.Scheduled) bool {
	switch {
	case !alike(s, p):
		return false
	case s.Planned:
		return p.Planned && s.At == p.At && s.By == p.By
	case s.By == bySchedule:
		return p.By == "" && !s.At.Before(p.At)
	}
	return p.Repeats() && s.By == p.By && !s.At.Before(p.At)
}

// isPlan says whether p is the change that a person planned as s, put back by a resume.
func isPlan(s, p knob.Scheduled) bool {
	return alike(s, p) && s.At == p.At && p.Planned && p.By == s.By && p.Again == s.Again
}

// isIt says whether p is the change that was cancelled as s.
func isIt(s, p knob.Scheduled) bool { return alike(s, p) && s.At == p.At && s.By == p.By }

// alike says whether two changes set a knob to the same value, or two notes say the same.
func alike(s, p knob.Scheduled) bool {
	return s.Knob == p.Knob && s.Note == p.Note && s.Now == p.Now && plain(s) == plain(p)
}

// plain is the value as the knob writes it: 3.0 is 3.
func plain(s knob.Scheduled) string {
	if s.Note != "" {
		return s.Note
	}
	k, err := knob.Find(s.Knob)
	if err != nil {
		return s.Value
	}
	v, err := k.Parse(s.Value)
	if err != nil {
		return s.Value
	}
	return v.String()
}
