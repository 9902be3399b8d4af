package tui

import (
	"fmt"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// applyStaged sends what is staged. Changes that need samples or a refit are made
// now where that is quick, and otherwise it asks.
func (m *steering) applyStaged() tea.Cmd {
	class := m.stagedClass()
	cost, known := m.cost(class)
	switch {
	case class == knob.ClassBatch || !m.generated():
		return m.send(whenDue)
	case known && cost < patience:
		return m.send(atOnce)
	}
	m.askCost(class, cost, known)
	return nil
}

// applyNow sends what is staged and has it redone at once; what takes long asks
// first.
func (m *steering) applyNow() tea.Cmd {
	if len(m.staged) == 0 {
		m.refuse("nothing is staged: change a value first")
		return nil
	}
	class := m.stagedClass()
	cost, known := m.cost(class)
	if class == knob.ClassBatch || !m.generated() || known && cost < patience {
		return m.send(atOnce)
	}
	m.askCost(class, cost, known)
	return nil
}

// askCost shows what applying the staged values costs, now or when it is due.
func (m *steering) askCost(class knob.Class, cost time.Duration, known bool) {
	about := now(cost, known)
	m.question(&dialog{
		title: "apply " + m.stagedText(),
		lines: []string{redoing(class)},
		choices: []choice{
			{"enter", m.atNextRefit(), func() tea.Cmd { return m.send(whenDue) }},
			{"!", about, func() tea.Cmd { return m.send(atOnce) }},
			{"esc", "do not apply", nil},
		},
	})
}

// now says what making a change at once costs.
func now(cost time.Duration, known bool) string {
	if !known {
		return "now: no env steps meanwhile, and how long that takes is not known yet"
	}
	return "now, " + lasting(cost) + " without env steps"
}

// applyAt asks for the step after which the staged values are to be applied.
func (m *steering) applyAt() tea.Cmd {
	if len(m.staged) == 0 || m.snap == nil {
		m.refuse("nothing is staged: change a value first")
		return nil
	}
	e := newEntry("apply "+m.stagedText()+" after step: ", "typing replaces it  enter set  esc cancel", func(text string) tea.Cmd {
		at, err := knob.ParsePosition(text)
		if err == nil && at.Before(knob.After(m.snap.Step)) {
			err = fmt.Errorf("step %s has passed: the run is at %s", count(at.Step), count(m.snap.Step))
		}
		if err == nil && at.Step > m.snap.Steps {
			err = fmt.Errorf("step %s is after the end: the run has %s", count(at.Step), count(m.snap.Steps))
		}
		if err != nil {
			m.refuse(err.Error())
			return nil
		}
		return m.sendAt(whenDue, &at)
	})
	e.propose(fmt.Sprint((m.snap.Step/1000 + 1) * 1000))
	m.open(e)
	return nil
}

// dropStaged forgets the staged values.
func (m *steering) dropStaged() tea.Cmd {
	clear(m.staged)
	m.say("")
	return nil
}

// send asks for every staged change, in the order of the table.
func (m *steering) send(when urgency) tea.Cmd { return m.sendAt(when, nil) }

// sendAt is send for a place to come; nil: at once.
func (m *steering) sendAt(when urgency, at *knob.Position) tea.Cmd {
	if m.watching() {
		m.refuse(m.driver + " drives: D takes over; the values stay staged")
		return nil
	}
	for _, k := range m.knobList {
		v, ok := m.staged[k.Name]
		if !ok {
			continue
		}
		c := &change{knob: k.Name, from: m.effective(k.Name), to: v, class: k.Class,
			now: when == atOnce && k.Class != knob.ClassBatch}
		if at != nil {
			c.at = at.Step
		}
		m.ask(c, func(ref string) event.Command {
			return event.SetKnob{ID: ref, Knob: k.Name, Value: v.String(), Now: c.now, By: sender, At: at}
		})
	}
	clear(m.staged)
	return nil
}

// ask sends a change and remembers it until the lab answers.
func (m *steering) ask(c *change, command func(ref string) event.Command) {
	m.sent++
	c.ref = fmt.Sprintf("%s-%d-%d", sender, m.session, m.sent)
	c.wall, c.state = m.now(), asked
	if m.snap != nil {
		c.askedStep = m.snap.Step
	}
	m.history.changes = append(m.history.changes, c)
	m.history.add(eventLine{wall: c.wall, step: c.askedStep, kind: "knob", change: c})
	m.say("")
	if m.lab == nil {
		c.state, c.why = refused, "the run has not started yet"
		return
	}
	if err := m.lab.Send(command(c.ref)); err != nil {
		c.state, c.why = refused, err.Error()
	}
}

// undo takes the last change back, as a new change. What costs time asks first, and
// the dialog says what undoing is not.
func (m *steering) undo() tea.Cmd {
	if c := m.lastChange(); c != nil && c.state == asked && c.at == 0 { // what came before it is not what was meant
		m.refuse("the last change is not applied yet")
		return nil
	}
	last := m.history.lastUndoable()
	if last == nil || m.lab == nil {
		m.refuse("nothing to undo")
		return nil
	}
	return m.takeBack("undo", last, func(now bool) {
		c := &change{knob: last.knob, from: last.to, to: last.from, class: last.class, undoes: last.number, now: now}
		m.ask(c, func(ref string) event.Command {
			return event.Undo{ID: last.number, Ref: ref, Now: now, By: sender}
		})
	})
}

// redo makes the change that was undone last once more, as a new change.
func (m *steering) redo() tea.Cmd {
	last := m.history.lastRedoable()
	if last == nil || m.lab == nil {
		m.refuse("nothing to redo: no change was undone")
		return nil
	}
	return m.takeBack("redo", last, func(now bool) {
		c := &change{knob: last.knob, from: last.to, to: last.from, class: last.class, redoes: last.number, now: now}
		m.ask(c, func(ref string) event.Command {
			return event.SetKnob{ID: ref, Knob: c.knob, Value: c.to.String(), Now: now, By: sender}
		})
	})
}

// takeBack asks, where the change last needs new samples or a refit, when to redo
// them, and then calls do.
func (m *steering) takeBack(verb string, last *change, do func(now bool)) tea.Cmd {
	cost, known := m.cost(last.class)
	if last.class == knob.ClassBatch || !m.generated() || known && cost < patience {
		do(last.now && last.class != knob.ClassBatch)
		return nil
	}
	about := now(cost, known)
	m.question(&dialog{
		title: fmt.Sprintf("%s #%d: %s %s %s %s", verb, last.number, m.knobTitle(last.knob), readable(last.to), m.theme.glyphs.arrow, readable(last.from)),
		lines: []string{"A new change sets the knob; the weights stay as they are.", redoing(last.class)},
		choices: []choice{
			{"enter", m.atNextRefit(), func() tea.Cmd { do(false); return nil }},
			{"!", about, func() tea.Cmd { do(true); return nil }},
			{"esc", "leave it", nil},
		},
	})
	return nil
}

func (m *steering) commandUndo(text string) error {
	if text == "" {
		m.undo()
		return nil
	}
	id, err := strconv.Atoi(strings.TrimPrefix(text, "#"))
	for _, c := range m.history.changes {
		if err == nil && c.number == id {
			m.ask(&change{knob: c.knob, from: m.effective(c.knob), to: c.from, class: c.class, undoes: id}, func(ref string) event.Command {
				return event.Undo{ID: id, Ref: ref, By: sender}
			})
			return nil
		}
	}
	return fmt.Errorf("undo: there is no change %s", text)
}

// dropAll is dropStaged; it says whether anything was staged.
func (m *steering) dropAll() bool {
	if len(m.staged) == 0 {
		return false
	}
	m.dropStaged()
	return true
}

// dismiss takes the line under the knobs away; it says whether there was one.
func (m *steering) dismiss() bool {
	if m.message == "" {
		return false
	}
	m.say("")
	return true
}

func redoing(class knob.Class) string {
	if class == knob.ClassRefit {
		return "F is scored, the generator fitted from new and D_syn made anew."
	}
	return "D_syn is made anew from the generator as it is."
}

// atNextRefit says when a change is made that waits, if it ever is.
func (m *steering) atNextRefit() string {
	if left := m.snap.Steps - m.snap.Step; m.snap.NextRefit <= 0 || m.snap.NextRefit >= left {
		return "at the next refit, but the run ends before there is one, in " + count(left) + " steps"
	}
	return "at the next refit, in " + count(m.snap.NextRefit) + " steps"
}
