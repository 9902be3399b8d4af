package tui

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/lab"
)

// verb is a command of the palette that takes an argument; commands without one are
// the bindings of the keys table.
type verb struct {
	name, about string
	arguments   func(m *Model) []string // to complete with; nil: free text
	run         func(m *Model, argument string) error
}

func verbs() []verb {
	return []verb{
		{"set", "stage and apply a knob: set guidance 3, set F td!, set r 0.75 @20000", knobNames, (*Model).commandSet},
		{"stage", "stage a knob's value without applying it", knobNames, (*Model).commandStage},
		{"undo", "take change N back, or the last one", nil, (*Model).commandUndo},
		{"note", "write a line into the journal, and a marker", nil, func(m *Model, text string) error { m.writeNote(text); return nil }},
		{"show", "show a quantity in the chart in focus", func(*Model) []string { return quantityNames() }, (*Model).commandShow},
		{"pane", "go to a pane", func(*Model) []string { return paneNames[:paneSentence] }, (*Model).commandPane},
		{"goto", "put the cursor on a marker, or on a step", nil, (*Model).commandGoto},
		{"layout", "focus, full or present", func(*Model) []string { return viewNames[:] }, (*Model).commandLayout},
		{"axis", "what the charts count", func(*Model) []string { return axisNames[:] }, (*Model).commandAxis},
		{"filter", "show only the events with a text in them", nil, func(m *Model, text string) error { m.setFilter(text); return nil }},
		{"compare", "draw another run's curves beside these: a run folder", nil, (*Model).commandCompare},
		{"theme", "colours for a dark or a light background", func(*Model) []string { return []string{"auto", "dark", "light"} }, (*Model).commandTheme},
		{"refresh", "looks at the run per second, 0.2 to 10", nil, (*Model).commandRefresh},
		{"save-settings", "keep theme, layout, axis, refresh and mouse for the next time", nil, (*Model).commandSaveSettings},
		{"detach", "leave the screen; the run goes on", nil, func(m *Model, _ string) error { m.dialog = nil; return errQuit }},
		{"stop", "stop the run and save", nil, func(m *Model, _ string) error { m.openQuit(); return nil }},
	}
}

// errQuit is how a verb leaves the screen.
var errQuit = fmt.Errorf("quit")

func knobNames(m *Model) []string {
	var out []string
	for _, k := range m.knobs {
		if m.knobUse(k) == nil {
			out = append(out, k.Name)
		}
	}
	return out
}

func quantityNames() []string {
	var out []string
	for _, q := range quantities {
		out = append(out, q.id)
	}
	return out
}

// openPalette asks for a command.
func (m *Model) openPalette() tea.Cmd {
	e := newEntry(":", "tab complete  enter run  esc leave", (*Model).command)
	e.complete = (*Model).candidates
	e.history = m.memory.Commands
	m.open(e)
	return nil
}

// command runs a line of the palette: a verb with its argument, the name of a
// binding, or a knob with its value.
func (m *Model) command(text string) tea.Cmd {
	if text == "" {
		return nil
	}
	m.keepCommand(text)
	name, argument, _ := strings.Cut(text, " ")
	argument = strings.TrimSpace(argument)
	for _, v := range verbs() {
		if v.name == name && (argument != "" || !m.bound(name)) {
			return m.report(v.run(m, argument))
		}
	}
	for _, b := range m.keys {
		if b.name == name {
			if argument != "" {
				return m.report(fmt.Errorf("%s takes nothing: %q is too much", name, argument))
			}
			if !b.works(m.focus) { // a command about a pane means that pane
				m.goTo(b.panes[0])
			}
			return m.act(b)
		}
	}
	return m.report(m.commandSet(text))
}

func (m *Model) bound(name string) bool {
	for _, b := range m.keys {
		if b.name == name {
			return true
		}
	}
	return false
}

// report shows why a command did not do what it says.
func (m *Model) report(err error) tea.Cmd {
	switch {
	case err == errQuit:
		return tea.Quit
	case err != nil:
		m.tell(m.theme.bad.on(m.theme.glyphs.cross) + " " + err.Error())
	}
	return nil
}

// keepCommand remembers a line; one that was given before moves to the end.
func (m *Model) keepCommand(text string) {
	kept := m.memory.Commands[:0:0]
	for _, c := range m.memory.Commands {
		if c != text {
			kept = append(kept, c)
		}
	}
	kept = append(kept, text)
	m.memory.Commands = kept[max(0, len(kept)-rememberedCommands):]
	m.remember()
}

// remember writes what the screen remembers; a file that cannot be written is no
// reason to disturb a run.
func (m *Model) remember() {
	if m.options.Home != "" {
		_ = writeTOML(m.options.Home+"/"+rememberedFile, m.memory)
	}
}

// candidates are the commands that a text may become, the best first.
func (m *Model) candidates(text string) []candidate {
	name, argument, spaced := strings.Cut(text, " ")
	if spaced {
		return m.argumentCandidates(name, strings.TrimLeft(argument, " "))
	}
	var all []candidate
	for _, v := range verbs() {
		all = append(all, candidate{v.name, v.about})
	}
	for _, b := range m.keys {
		if !strings.HasPrefix(b.name, "go-") {
			all = append(all, candidate{b.name, b.help})
		}
	}
	for _, k := range m.knobs {
		if m.knobUse(k) == nil {
			all = append(all, candidate{k.Name + " ", "now " + readable(m.effective(k.Name)) + "; " + k.Doc})
		}
	}
	return best(all, name)
}

// argumentCandidates complete the argument of a verb or the value of a knob.
func (m *Model) argumentCandidates(name, argument string) []candidate {
	for _, v := range verbs() {
		if v.name != name || v.arguments == nil {
			continue
		}
		if knob, value, more := strings.Cut(argument, " "); more && (name == "set" || name == "stage") {
			return prefixed(name+" ", m.argumentCandidates(knob, value))
		}
		var all []candidate
		for _, a := range v.arguments(m) {
			all = append(all, candidate{a, ""})
		}
		return prefixed(name+" ", best(all, argument))
	}
	k, err := m.findKnob(name)
	if err != nil || k.Kind != lab.KindChoice {
		return nil
	}
	var all []candidate
	for _, c := range k.Choices {
		all = append(all, candidate{c, ""})
	}
	return prefixed(name+" ", best(all, argument))
}

func prefixed(prefix string, c []candidate) []candidate {
	for i := range c {
		c[i].text = prefix + c[i].text
	}
	return c
}

// best are the candidates that begin with a text, then those that contain it, then
// those that have its letters in their order.
func best(all []candidate, text string) []candidate {
	rank := func(c candidate) int {
		name, text := strings.ToLower(c.text), strings.ToLower(text)
		switch {
		case strings.HasPrefix(name, text):
			return 0
		case strings.Contains(name, text):
			return 1
		case subsequence(name, text):
			return 2
		default:
			return 3
		}
	}
	seen := map[string]bool{}
	var out []candidate
	for _, c := range all {
		if rank(c) < 3 && !seen[c.text] {
			seen[c.text] = true
			out = append(out, c)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return rank(out[i]) < rank(out[j]) })
	return out
}

func subsequence(name, letters string) bool {
	rest := []rune(letters)
	for _, r := range name {
		if len(rest) > 0 && r == rest[0] {
			rest = rest[1:]
		}
	}
	return len(rest) == 0
}

// findKnob finds a knob by its name or its symbol.
func (m *Model) findKnob(name string) (lab.Knob, error) {
	for _, k := range m.knobs {
		if k.Symbol == name {
			return k, nil
		}
	}
	k, err := lab.FindKnob(name)
	if err != nil {
		return k, fmt.Errorf("no such command or knob: %w", err)
	}
	return k, nil
}

// assignment is a knob, its value, and when.
type assignment struct {
	knob  lab.Knob
	value lab.Value
	now   bool
	at    *lab.Position
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
	if err = a.knob.UsedBy(&m.options.Config); err != nil {
		return a, err
	}
	value, now := strings.CutSuffix(fields[1], "!")
	a.now = now
	if a.value, err = a.knob.Parse(value); err != nil {
		return a, err
	}
	if scheduled {
		p, err := lab.ParsePosition(strings.TrimSpace(at))
		if err != nil {
			return a, err
		}
		if m.snap != nil && p.Before(lab.After(m.snap.Step)) {
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
		return lab.ErrEnded
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
func (m *Model) choose(k lab.Knob) {
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
			m.ask(&change{knob: c.knob, from: m.effective(c.knob), to: c.from, class: c.class, undoes: id}, func(ref string) lab.Command {
				return lab.Undo{ID: id, Ref: ref, By: sender}
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

func (m *Model) commandPane(text string) error {
	for id := range paneSentence {
		if strings.EqualFold(paneNames[id], text) {
			m.goTo(id)
			return nil
		}
	}
	return fmt.Errorf("pane: want one of %s", strings.Join(paneNames[:paneSentence], ", "))
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
