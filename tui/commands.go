package tui

import (
	"fmt"
	"strconv"
	"strings"

	"pgrlab/core/event"
	"pgrlab/core/knob"
)

// findKnob finds a knob by its name or its symbol.
func (m *Model) findKnob(name string) (knob.Knob, error) {
	for _, k := range m.knobs {
		if k.Symbol == name {
			return k, nil
		}
	}
	k, err := knob.Find(name)
	if err != nil {
		return k, fmt.Errorf("no such command or knob: %w", err)
	}
	return k, nil
}

// assignment is a knob, its value, and when.
type assignment struct {
	knob  knob.Knob
	value knob.Value
	now   bool
	at    *knob.Position
}

// parseAssignment reads "guidance 3", "ω=3!", "ratio 0.75 @20000".
func (m *Model) parseAssignment(text string) (assignment, error) {
	var a assignment
	text, at, scheduled := strings.Cut(text, "@")
	fields := strings.Fields(strings.Replace(text, "=", " ", 1))
	if len(fields) == 0 {
		return a, fmt.Errorf("which knob? for example: guidance 3")
	}
	var err error
	if a.knob, err = m.findKnob(fields[0]); err != nil {
		return a, err
	}
	if len(fields) != 2 {
		return a, fmt.Errorf("%s: want one value: %s", a.knob.Name, a.knob.Range())
	}
	if err = m.options.Config.Uses(a.knob); err != nil {
		return a, err
	}
	value, now := strings.CutSuffix(fields[1], "!")
	a.now = now
	if a.value, err = a.knob.Parse(value); err != nil {
		return a, err
	}
	if scheduled {
		p, err := knob.ParsePosition(strings.TrimSpace(at))
		if err != nil {
			return a, err
		}
		if m.snap != nil && p.Before(knob.After(m.snap.Step)) {
			return a, fmt.Errorf("step %s has passed: the run is at %s", count(p.Step), count(m.snap.Step))
		}
		a.at = &p
	}
	return a, nil
}

// commandSet is "set KNOB VALUE", with the questions that the keys would ask.
func (m *Model) commandSet(text string) error {
	a, err := m.parseAssignment(text)
	if err != nil {
		return err
	}
	if m.options.Replay {
		return ErrReplay
	}
	if m.ended() {
		return event.ErrEnded
	}
	clear(m.staged)
	m.choose(a.knob)
	m.stage(a.knob, a.value)
	switch {
	case len(m.staged) == 0:
		m.tell(a.knob.Name + " is " + readable(a.value) + " already")
	case a.at != nil && a.now:
		m.sendAt(atOnce, a.at)
	case a.at != nil:
		m.sendAt(whenDue, a.at)
	case a.now:
		m.applyNow()
	default:
		m.applyStaged()
	}
	return nil
}

func (m *Model) commandStage(text string) error {
	a, err := m.parseAssignment(text)
	if err == nil {
		m.choose(a.knob)
		m.stage(a.knob, a.value)
		m.focus = paneKnobs
		m.relayout()
	}
	return err
}

// choose selects a knob in its pane.
func (m *Model) choose(k knob.Knob) {
	for i := range m.knobs {
		if m.knobs[i].Name == k.Name {
			m.selected = i
		}
	}
}

func (m *Model) commandUndo(text string) error {
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

func (m *Model) commandShow(text string) error {
	i, ok := quantityIndex(text)
	if !ok {
		return fmt.Errorf("show: want one of %s", strings.Join(quantityNames(), ", "))
	}
	p := m.chartInFocus()
	cell, _ := cellOf(p)
	m.cells[cell] = i
	if !m.layout.visible(p) {
		m.goTo(p)
	}
	m.drawChartsAnew()
	return nil
}

// commandPane goes to a pane by its name or by what its tab says; a quantity that no
// chart shows comes into the first one.
func (m *Model) commandPane(text string) error {
	for _, name := range []func(paneID) string{m.tabName, func(id paneID) string { return paneNames[id] }} {
		for id := range paneSentence {
			if strings.EqualFold(name(id), text) {
				m.goTo(id)
				return nil
			}
		}
	}
	if _, ok := quantityIndex(text); ok {
		m.goTo(paneChart1)
		return m.commandShow(text)
	}
	return fmt.Errorf("pane: want one of %s", strings.Join(m.tabNames(), ", "))
}

// tabNames are the panes as their tabs say.
func (m *Model) tabNames() []string {
	var out []string
	for id := range paneSentence {
		out = append(out, m.tabName(id))
	}
	return out
}

// commandGoto puts the cursor on a marker by its label, or on a step.
func (m *Model) commandGoto(text string) error {
	label := strings.TrimPrefix(text, "#")
	for _, k := range m.milestones() {
		if k.label == label {
			m.cursor, m.cursorOn = k.step, true
			m.tell("#" + k.label + " " + k.text + " in force at step " + count(k.step))
			m.drawChartsAnew()
			return nil
		}
	}
	step, err := strconv.Atoi(strings.NewReplacer(",", "", "_", "").Replace(text))
	if err != nil || step < 0 {
		return fmt.Errorf("goto: there is no marker %q, and it is no step", text)
	}
	m.cursor, m.cursorOn = step, true
	m.drawChartsAnew()
	return nil
}

func (m *Model) commandLayout(text string) error {
	for v := range viewCount {
		if v.String() == text {
			m.setView(v)
			return nil
		}
	}
	return fmt.Errorf("layout: want one of %s", strings.Join(viewNames[:], ", "))
}

func (m *Model) commandAxis(text string) error {
	for a := range axisCount {
		if a.String() == text {
			m.axis = (a + axisCount - 1) % axisCount
			m.nextAxis()
			return nil
		}
	}
	return fmt.Errorf("axis: want one of %s", strings.Join(axisNames[:], ", "))
}

func (m *Model) commandTheme(text string) error {
	s := m.settings
	s.Theme = text
	if err := s.validate(); err != nil {
		return err
	}
	m.settings = s
	m.retheme()
	return nil
}

func (m *Model) commandRefresh(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("refresh: %q is no number", text)
	}
	s := m.settings
	s.Refresh = v
	if err := s.validate(); err != nil {
		return err
	}
	m.settings = s
	return nil
}

func (m *Model) commandSaveSettings(string) error {
	if m.options.Home == "" {
		return fmt.Errorf("save settings: there is no folder for them")
	}
	m.settings.Layout, m.settings.Axis, m.settings.Mouse = m.view.String(), m.axis.String(), m.mouse
	if err := SaveSettings(m.options.Home, m.settings); err != nil {
		return fmt.Errorf("save settings: %w", err)
	}
	m.tell("saved in " + m.options.Home)
	return nil
}
