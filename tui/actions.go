package tui

import (
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/knob"
)

// patience is the longest redoing that enter starts without asking.
const patience = 5 * time.Second

// sender is who asks, in the journal.
const sender = "screen"

// urgency says when what depends on a change is redone.
type urgency int

const (
	whenDue urgency = iota // at the next generation or refit
	atOnce
)

func (m *Model) togglePause() tea.Cmd {
	if m.paused() {
		return m.order(event.Resume{By: sender})
	}
	return m.order(event.Pause{By: sender})
}

// togglePark gives the GPU back, or takes it again and goes on. A run that is only
// paused is parked, too; on the CPU there is no difference.
func (m *Model) togglePark() tea.Cmd {
	gpu := m.options.Config.Device == "cuda"
	if m.paused() && (m.snap.Parked || !gpu) {
		return m.order(event.Resume{By: sender})
	}
	cmd := m.order(event.Park{By: sender})
	if !gpu && m.told == "" {
		m.tell("there is no GPU to give back: the run is saved and pauses; P or space goes on")
	}
	return cmd
}

// order sends a command to the lab while it runs.
func (m *Model) order(c event.Command) tea.Cmd {
	if m.lab == nil {
		return nil
	}
	if m.ended() {
		m.tell("the run has ended")
		return nil
	}
	if err := m.lab.Send(c); err != nil {
		m.say(refused, err.Error())
	}
	return nil
}

// ended says whether the run is over.
func (m *Model) ended() bool {
	return m.snap != nil && (m.snap.State == event.Finished || m.snap.State == event.FailedState)
}

// applyStaged sends what is staged. Changes that need samples or a refit are made
// now where that is quick, and otherwise it asks.
func (m *Model) applyStaged() tea.Cmd {
	if len(m.staged) == 0 {
		return m.knobEdit()
	}
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
func (m *Model) applyNow() tea.Cmd {
	if len(m.staged) == 0 {
		m.say(refused, "nothing is staged: change a value first")
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
func (m *Model) askCost(class knob.Class, cost time.Duration, known bool) {
	about := now(cost, known)
	m.dialog = &dialog{
		title: "apply " + m.stagedText(),
		lines: []string{redoing(class)},
		choices: []choice{
			{"enter", m.atNextRefit(), func(m *Model) tea.Cmd { return m.send(whenDue) }},
			{"!", about, func(m *Model) tea.Cmd { return m.send(atOnce) }},
			{"esc", "do not apply", nil},
		},
	}
}

// now says what making a change at once costs.
func now(cost time.Duration, known bool) string {
	if !known {
		return "now: no env steps meanwhile, and how long that takes is not known yet"
	}
	return "now, " + lasting(cost) + " without env steps"
}

// atNextRefit says when a change is made that waits, if it ever is.
func (m *Model) atNextRefit() string {
	if left := m.snap.Steps - m.snap.Step; m.snap.NextRefit <= 0 || m.snap.NextRefit >= left {
		return "at the next refit, but the run ends before there is one, in " + count(left) + " steps"
	}
	return "at the next refit, in " + count(m.snap.NextRefit) + " steps"
}

// applyAt asks for the step after which the staged values are to be applied.
func (m *Model) applyAt() tea.Cmd {
	if len(m.staged) == 0 || m.snap == nil {
		m.say(refused, "nothing is staged: change a value first")
		return nil
	}
	e := newEntry("apply "+m.stagedText()+" after step: ", "typing replaces it  enter set  esc cancel", func(m *Model, text string) tea.Cmd {
		at, err := knob.ParsePosition(text)
		if err == nil && at.Before(knob.After(m.snap.Step)) {
			err = fmt.Errorf("step %s has passed: the run is at %s", count(at.Step), count(m.snap.Step))
		}
		if err == nil && at.Step > m.snap.Steps {
			err = fmt.Errorf("step %s is after the end: the run has %s", count(at.Step), count(m.snap.Steps))
		}
		if err != nil {
			m.say(refused, err.Error())
			return nil
		}
		return m.sendAt(whenDue, &at)
	})
	e.propose(fmt.Sprint((m.snap.Step/1000 + 1) * 1000))
	m.open(e)
	return nil
}

// dropStaged forgets the staged values.
func (m *Model) dropStaged() tea.Cmd {
	clear(m.staged)
	m.say(applied, "")
	return nil
}

// send asks for every staged change, in the order of the table.
func (m *Model) send(when urgency) tea.Cmd { return m.sendAt(when, nil) }

// sendAt is send for a place to come; nil: at once.
func (m *Model) sendAt(when urgency, at *knob.Position) tea.Cmd {
	if m.watching() {
		m.say(refused, m.driver+" drives: D takes over; the values stay staged")
		return nil
	}
	for _, k := range m.knobs {
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
func (m *Model) ask(c *change, command func(ref string) event.Command) {
	m.sent++
	c.ref = fmt.Sprintf("%s-%d-%d", sender, m.session, m.sent)
	c.wall, c.state = m.now(), asked
	if m.snap != nil {
		c.askedStep = m.snap.Step
	}
	m.history.changes = append(m.history.changes, c)
	m.history.add(eventLine{wall: c.wall, step: c.askedStep, kind: "knob", change: c})
	m.say(applied, "")
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
func (m *Model) undo() tea.Cmd {
	if c := m.lastChange(); c != nil && c.state == asked && c.at == 0 { // what came before it is not what was meant
		m.say(refused, "the last change is not applied yet")
		return nil
	}
	last := m.history.lastUndoable()
	if last == nil || m.lab == nil {
		m.say(refused, "nothing to undo")
		return nil
	}
	return m.takeBack("undo", last, func(m *Model, now bool) {
		c := &change{knob: last.knob, from: last.to, to: last.from, class: last.class, undoes: last.number, now: now}
		m.ask(c, func(ref string) event.Command {
			return event.Undo{ID: last.number, Ref: ref, Now: now, By: sender}
		})
	})
}

// redo makes the change that was undone last once more, as a new change.
func (m *Model) redo() tea.Cmd {
	last := m.history.lastRedoable()
	if last == nil || m.lab == nil {
		m.say(refused, "nothing to redo: no change was undone")
		return nil
	}
	return m.takeBack("redo", last, func(m *Model, now bool) {
		c := &change{knob: last.knob, from: last.to, to: last.from, class: last.class, redoes: last.number, now: now}
		m.ask(c, func(ref string) event.Command {
			return event.SetKnob{ID: ref, Knob: c.knob, Value: c.to.String(), Now: now, By: sender}
		})
	})
}

// takeBack asks, where the change last needs new samples or a refit, when to redo
// them, and then calls do.
func (m *Model) takeBack(verb string, last *change, do func(m *Model, now bool)) tea.Cmd {
	cost, known := m.cost(last.class)
	if last.class == knob.ClassBatch || !m.generated() || known && cost < patience {
		do(m, last.now && last.class != knob.ClassBatch)
		return nil
	}
	about := now(cost, known)
	m.dialog = &dialog{
		title: fmt.Sprintf("%s #%d: %s %s %s %s", verb, last.number, m.knobTitle(last.knob), readable(last.to), m.theme.glyphs.arrow, readable(last.from)),
		lines: []string{"A new change sets the knob; the weights stay as they are.", redoing(last.class)},
		choices: []choice{
			{"enter", m.atNextRefit(), func(m *Model) tea.Cmd { do(m, false); return nil }},
			{"!", about, func(m *Model) tea.Cmd { do(m, true); return nil }},
			{"esc", "leave it", nil},
		},
	}
	return nil
}

// checkpoint saves the run where it is; the event says when it is on the disk.
func (m *Model) checkpoint() tea.Cmd {
	if m.lab == nil {
		return nil
	}
	if err := m.lab.Send(event.Checkpoint{By: sender}); err != nil {
		m.say(refused, err.Error())
		return nil
	}
	m.tell("saving at the end of this slice")
	return nil
}

// analyse has the run looked at; the findings are an event.
func (m *Model) analyse() tea.Cmd {
	if m.lab == nil {
		return nil
	}
	if err := m.lab.Send(event.AnalyseNow{By: sender}); err != nil {
		m.say(refused, err.Error())
		return nil
	}
	m.tell("analysing: training waits, the findings will be an event")
	return nil
}

// openNote asks for a remark.
func (m *Model) openNote() tea.Cmd {
	if m.lab == nil {
		return nil
	}
	m.open(newEntry("note: ", "a line in the journal and a marker  enter write  esc cancel", (*Model).writeNote))
	return nil
}

func (m *Model) writeNote(text string) tea.Cmd {
	if text == "" || m.lab == nil {
		return nil
	}
	if err := m.lab.Send(event.Note{Text: text, By: sender}); err != nil {
		m.say(refused, err.Error())
		return nil
	}
	m.tell("noted")
	return nil
}

// cost estimates what redoing a class takes; unknown before the first refit.
func (m *Model) cost(class knob.Class) (time.Duration, bool) {
	if m.snap == nil {
		return 0, false
	}
	switch class {
	case knob.ClassGeneration:
		return m.snap.CostGenerate, m.snap.CostGenerate > 0
	case knob.ClassRefit:
		return m.snap.CostRefit, m.snap.CostRefit > 0
	default:
		return 0, true
	}
}

// generated says whether there is a generator whose samples could be made anew.
func (m *Model) generated() bool { return m.snap != nil && m.snap.Refits > 0 }

func redoing(class knob.Class) string {
	if class == knob.ClassRefit {
		return "F is scored, the generator fitted from new and D_syn made anew."
	}
	return "D_syn is made anew from the generator as it is."
}

// openQuit asks how to leave.
func (m *Model) openQuit() tea.Cmd {
	children := m.raising()
	if m.options.Remote { // they are not this screen's to end
		children = 0
	}
	if m.ended() && children > 0 {
		return m.askForChildren(children)
	}
	if m.options.Ended {
		return m.askWhatNext()
	}
	if m.ended() || m.options.Replay || m.picker != nil || m.watching() {
		return m.leave()
	}
	if m.lab == nil {
		m.dialog = &dialog{title: "quit", lines: []string{"The run has not started yet."}, choices: []choice{
			{"s", "stop", (*Model).stop}, {"esc", "cancel", nil},
		}}
		return nil
	}
	lines := []string{"The screen is only a view: the run does not need it."}
	if m.options.Folder != "" {
		lines = append(lines, "run folder  "+m.options.Folder)
	}
	label := "leave it training (or ctrl+z); pgrlab attach brings it back"
	if m.options.Remote {
		label = "leave it training; pgrlab attach brings the screen back"
	}
	m.dialog = &dialog{title: "quit", lines: lines, choices: []choice{
		{"d", label, (*Model).detach},
		{"s", "stop and save", (*Model).stop},
	}}
	if children > 0 {
		m.dialog.choices[1].label += fmt.Sprintf("; its forks, %s, go on", counted(children, "child", "children"))
		m.dialog.choices = append(m.dialog.choices, choice{"a", "stop and save all of them", (*Model).stopAllOf})
	}
	m.dialog.choices = append(m.dialog.choices, choice{"esc", "cancel", nil})
	return nil
}

// askForChildren asks what becomes of the children of a run that is over.
func (m *Model) askForChildren(n int) tea.Cmd {
	m.dialog = &dialog{
		title: "quit", lines: []string{fmt.Sprintf("The run is over; of its forks, %s still to be trained.", counted(n, "child is", "children are"))},
		choices: []choice{
			{"d", "leave them training, in processes of their own", (*Model).leave},
			{"s", "stop and save them", (*Model).stopAllOf},
			{"esc", "cancel", nil},
		},
	}
	return nil
}

// counted is a number of things.
func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// interrupt is ctrl+c: the quit dialog; the second one in time stops at once.
func (m *Model) interrupt() tea.Cmd {
	now := m.now()
	if !m.interruptAt.IsZero() && now.Sub(m.interruptAt) < secondInterrupt {
		return m.stop()
	}
	m.interruptAt = now
	m.help, m.entry = false, nil
	m.changed()
	return m.openQuit()
}

// stop asks the lab to save and end. That the lab may be too busy to be asked does
// no harm: the caller of Run ends it on StopRequested.
func (m *Model) stop() tea.Cmd {
	if m.watching() {
		return m.leave()
	}
	m.stopRequested = true
	if m.lab != nil {
		if err := m.lab.Send(event.Stop{By: sender}); err != nil {
			m.say(refused, err.Error())
		}
	}
	return m.leave()
}
