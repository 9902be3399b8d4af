package tui

import (
	"fmt"
	"math"
	"strings"

	"pgrlab/core/knob"

	tea "github.com/charmbracelet/bubbletea"
)

// knobsPane is the knobs, and an explanation of the selected one.
type knobsPane struct {
	*steering
	selected int
	top      int // the first knob shown
}

func newKnobs(s *steering) *knobsPane { return &knobsPane{steering: s} }

// ID names the pane.
func (m *knobsPane) ID() paneID { return paneKnobs }

// Tab is its name on the tab bar.
func (m *knobsPane) Tab() string { return string(paneKnobs) }

// Title is what its border says.
func (m *knobsPane) Title(w int) (title, note string) { return "KNOBS", m.knobsNote(w) }

// Keys work while it is in focus.
func (m *knobsPane) Keys() []binding {
	return []binding{
		{name: "up", keys: []string{"up", "k"}, label: "up k", help: "the knob above", action: m.up},
		{name: "down", keys: []string{"down", "j"}, label: "down j", help: "the knob below", action: m.down},
		{name: "more", of: liveRun, keys: []string{"right", "l"}, label: "right l", hint: "up down left right", does: "change", help: "stage the next value of the knob; nothing is sent yet", action: m.more},
		{name: "less", keys: []string{"left", "h"}, label: "left h", help: "stage the previous value of the knob", action: m.less},
		{name: "edit", keys: []string{"e"}, help: "type a value for the knob", action: m.edit},
		{name: "apply", of: liveRun, keys: []string{"enter"}, does: "apply", help: "send the staged values; a change that needs a refit or new samples is made now if that takes under 5 s, otherwise it asks", action: m.apply},
		{name: "now", of: liveRun, keys: []string{"!"}, does: "now", help: "send the staged values and redo at once what they need (samples, or score, fit and samples); asks if that takes over 5 s", action: m.applyNow},
		{name: "at", of: liveRun, keys: []string{"@"}, does: "at step", help: "have the staged values applied after an env step to come", action: m.applyAt},
		{name: "drop", keys: []string{"delete"}, help: "drop the staged values", action: m.dropStaged},
	}
}

// Verbs are its commands.
func (m *knobsPane) Verbs() []verb {
	return []verb{
		{"set", "stage and apply a knob: set guidance 3, set F td!, set r 0.75 @20000", m.usedKnobs, m.commandSet},
		{"stage", "stage a knob's value without applying it", m.usedKnobs, m.commandStage},
		{"undo", "take change N back, or the last one", nil, m.commandUndo},
	}
}

// Scroll is the wheel of the mouse.
func (m *knobsPane) Scroll(by int) tea.Cmd { return m.selectKnob(by) }

// apply sends what is staged, or where nothing is begins typing a value.
func (m *knobsPane) apply() tea.Cmd {
	if len(m.staged) == 0 {
		return m.edit()
	}
	return m.applyStaged()
}

// DependsOn are the topics that it shows.
func (m *knobsPane) DependsOn() []topic { return []topic{topicSnapshot, topicChanges, topicStaged} }

// Body lists the knobs and explains the selected one below.
func (m *knobsPane) Body(w, h int) []string {
	most := max(2, h/4, h-len(m.knobList)-1) // a low pane shows the list first
	if h >= 10 {
		most = max(most, 3)
	}
	detail := m.knobDetail(w, most)
	detail = detail[:min(most, len(detail))]
	least := min(len(m.knobList), max(3, h/2))
	room := h - len(detail)
	if room < least {
		room = least
	}
	if room >= len(m.knobList) {
		room = len(m.knobList)
	}
	room = max(1, min(room, h))
	m.top = max(0, min(m.top, len(m.knobList)-room))
	m.top = min(max(m.top, m.selected-room+1), m.selected)
	var out []string
	for i := m.top; i < m.top+room; i++ {
		out = append(out, m.knobRow(i, w))
	}
	if spare := h - len(out) - len(detail); spare > 0 {
		out = append(out, "")
	}
	return append(out, detail...)
}

// Columns of a knob's row.
const (
	symbolWidth = 4
	nameWidth   = 16
	gaugeWidth  = 12
	valueWidth  = 30 // the most before the gauge: the eye must find it
)

// knobRow is one knob: symbol, name, value, and where the value lies in its range.
func (m *knobsPane) knobRow(i, w int) string {
	t, k := m.theme, m.knobList[i]
	cursor := "  "
	ink := t.text
	if i == m.selected {
		cursor, ink = t.accent.on(t.glyphs.cursor)+" ", t.bold
	}
	used := m.knobUse(k) == nil
	if !used {
		ink = t.faint
	}
	if w < 46 {
		return m.knobRowNarrow(k, cursor[:len(cursor)-1], ink, w)
	}
	left := cursor + t.dim.on(t.fit(k.Symbol, symbolWidth)) + ink.on(t.fit(k.Name, nameWidth))
	gauge := gaugeWidth
	if spare := w - width(left) - valueWidth - gaugeWidth; spare > 0 {
		gauge += min(spare, gaugeWidth)
	}
	value := t.fit(" "+m.knobValue(k, i == m.selected, used), min(valueWidth, w-width(left)-gauge))
	return left + value + m.knobGauge(k, used, gauge)
}

// knobRowNarrow is a knob without its gauge: the name gives way to the value, and of
// a staged one the old value gives way to the name.
func (m *knobsPane) knobRowNarrow(k knob.Knob, cursor string, ink ink, w int) string {
	t := m.theme
	left := cursor + t.dim.on(t.fit(k.Symbol, symbolWidth))
	value := m.knobValue(k, k.Name == m.knobList[m.selected].Name, m.knobUse(k) == nil)
	if v, staged := m.staged[k.Name]; staged && width(left)+width(k.Name)+1+width(value) > w {
		value = t.glyphs.arrow + " " + t.staged.on(readable(v)+"*")
	}
	room := max(0, w-width(left)-width(value)-1)
	return t.spread(left+ink.on(t.fit(k.Name, min(room, nameWidth))), value, w)
}

// knobValue is the effective value, with the staged or typed one behind an arrow.
func (m *knobsPane) knobValue(k knob.Knob, selected, used bool) string {
	t := m.theme
	now := readable(m.effective(k.Name))
	if !used {
		return t.faint.on(now)
	}
	if selected && m.typing() {
		return now + " " + t.glyphs.arrow + " " + t.staged.on(m.typed().text()) + t.cursor.on(" ")
	}
	if v, ok := m.staged[k.Name]; ok {
		return now + " " + t.glyphs.arrow + " " + t.staged.on(readable(v)+"*")
	}
	return t.bold.on(now)
}

// knobGauge is the place of a number in its range, of a choice among the choices,
// or the change that is under way.
func (m *knobsPane) knobGauge(k knob.Knob, used bool, w int) string {
	t := m.theme
	if !used {
		return t.faint.on(t.fit("not used", w))
	}
	for i := len(m.history.changes) - 1; i >= 0; i-- {
		c := m.history.changes[i]
		if c.knob != k.Name || c.state == refused {
			continue
		}
		switch c.state {
		case asked:
			if c.at > 0 {
				return t.dim.on(t.fit("at "+count(c.at), w))
			}
			return t.warn.on(t.fit("pending"+t.glyphs.wait, w))
		case applied:
			return t.warn.on(t.fit(fmt.Sprintf("#%d set", c.number), w))
		}
		break
	}
	if m.snap != nil {
		for _, s := range m.snap.Scheduled {
			if s.Knob == k.Name {
				return t.dim.on(t.fit("at "+count(s.At.Step), w))
			}
		}
	}
	v := m.wanted(k.Name)
	if k.Kind == knob.KindChoice {
		for i, c := range k.Choices {
			if c == v.Text {
				return t.dim.on(t.fit(fmt.Sprintf("%d of %d", i+1, len(k.Choices)), w))
			}
		}
	}
	return m.knobSlider(place01(k, v.Number), place01(k, m.effective(k.Name).Number), w)
}

// knobSlider is a line of w columns with a knob at the place of the wanted value,
// and a ring where the effective one is, when they differ.
func (m *knobsPane) knobSlider(wanted, now float64, w int) string {
	t := m.theme
	column := func(x float64) int { return int(math.Round(math.Max(0, math.Min(1, x)) * float64(w-1))) }
	at, was := column(wanted), column(now)
	line := func(from, to int, colour ink) string {
		return colour.on(strings.Repeat(t.glyphs.horizontal, max(0, to-from)))
	}
	if wanted == now {
		return line(0, at, t.barFull) + t.barFull.on(t.glyphs.dot) + line(at+1, w, t.faint)
	}
	if at == was { // too small a change for the line
		return line(0, at, t.barFull) + t.staged.on(t.glyphs.dot) + line(at+1, w, t.faint)
	}
	knob, ring := t.staged.on(t.glyphs.dot), t.barFull.on(t.glyphs.ring)
	if at < was {
		return line(0, at, t.barFull) + knob + line(at+1, was, t.faint) + ring + line(was+1, w, t.faint)
	}
	return line(0, was, t.barFull) + ring + line(was+1, at, t.staged) + knob + line(at+1, w, t.faint)
}

// place01 is where x lies between the ends of the knob's range; a logarithmic range
// from 0 starts at a millionth.
func place01(k knob.Knob, x float64) float64 {
	lo, hi := k.Min, k.Max
	if k.Scale == knob.ScaleLog {
		lo, hi, x = math.Log10(math.Max(lo, 1e-6)), math.Log10(hi), math.Log10(math.Max(x, 1e-6))
	}
	if !(hi > lo) {
		return 0
	}
	return (x - lo) / (hi - lo)
}

// knobDetail explains the selected knob: what it is, what the staged change does
// and when, what became of the last one; where room is short what comes first has it,
// and a sentence ends behind a word.
func (m *knobsPane) knobDetail(w, room int) []string {
	t, k := m.theme, m.knobList[m.selected]
	var out []string
	add := func(colour ink, text string, most int) {
		lines := wrap(text, w)
		if most = min(most, room-len(out)); len(lines) > max(0, most) {
			if most <= 0 {
				return
			}
			lines[most-1] = t.clip(strings.Join(lines[most-1:], " "), w)
			lines = lines[:most]
		}
		for _, l := range lines {
			out = append(out, colour.on(l))
		}
	}
	if m.message != "" {
		add(t.bad, t.glyphs.cross+" "+m.message, len(m.message))
		return out
	}
	if last := m.lastChange(); last != nil && len(m.staged) == 0 && !m.typing() {
		if room < 4 {
			out = append(out, t.fit(m.changeText(last, w), w))
		} else {
			out = append(out, wrapStyled(m.changeText(last, 2*w-8), w)...)
		}
	}
	switch err := m.knobUse(k); {
	case err != nil:
		add(t.dim, err.Error(), room)
	case m.typing():
		add(t.staged, k.Range()+": enter stages it, esc drops it", room)
	case len(m.staged) > 0:
		add(t.staged, m.stagedEffect(), max(1, room-1))
		if text := m.previewText(); text != "" && room >= 4 {
			add(t.dim, m.spelled(text), room-1-len(out))
		}
		add(t.dim, longest([]string{"enter apply · ! now · @ at a step · esc drop", "enter apply · ! now · esc drop", "enter apply · esc drop"}, w), 1)
	default:
		if text := m.mixText(k); text != "" {
			add(t.text, text, room)
		}
		if text := m.exposure(); text != "" {
			add(t.accent, text, max(1, room/3))
		}
		add(t.dim, k.Doc+unitOf(k)+"; "+takesEffect(k.Class), room)
	}
	return out
}

// typing says whether a value is being typed in the knobs.
func (m *knobsPane) typing() bool { return m.typed() != nil && m.typed().pane == paneKnobs }

// mixText spells out what r, batch and hold make of a batch; "" for other knobs.
func (m *knobsPane) mixText(k knob.Knob) string {
	switch k.Name {
	case "ratio", "batch", "hold":
	default:
		return ""
	}
	settings := m.about.Config.Knobs
	for _, name := range []string{"ratio", "batch", "hold"} {
		if settings.Set(name, m.wanted(name).String()) != nil {
			return "" // the lab will say why
		}
	}
	if settings.Hold == knob.HoldReal && settings.Ratio >= 1 {
		return "" // no batch is large enough
	}
	mix := m.about.Config.Mix(&settings, math.MaxInt)
	return fmt.Sprintf("r %v %s batch %s = %s real + %s synthetic", settings.Ratio, m.theme.glyphs.separator, count(mix.Size()), count(mix.Real), count(mix.Synthetic))
}

func (m *knobsPane) knobsNote(w int) string {
	if n := len(m.staged); n > 0 {
		return m.theme.staged.on(fmt.Sprintf("%d staged", n))
	}
	if w < 40 {
		return ""
	}
	return m.theme.dim.on(fmt.Sprintf("%d of %d", m.selected+1, len(m.knobList)))
}
