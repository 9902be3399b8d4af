package tui

import (
	"fmt"
	"strconv"
	"strings"

	"pgrlab/core/lab"
)

// pickerView is the first screen: in a box where there is room for one.
func (m *Model) pickerView() []string {
	t := m.theme
	boxed := m.w >= ruledWidth && m.h >= ruledHeight
	w := min(m.w-4, 100)
	if boxed {
		w = min(m.w-8, 104)
	}
	var body []string
	for row := range pickRows {
		body = append(body, m.pickerRow(row, w))
	}
	switch about := m.pickerDoc(w); {
	case m.entry != nil:
		body = append(body, "")
		body = append(body, t.fill(m.pickerFoot(w, 7), w, 7)...)
	case boxed:
		body = append(body, "")
		body = append(body, t.fill(about, w, 2)...)
	}
	if m.entry == nil {
		if len(body)+5 < m.h {
			body = append(body, "")
		}
		body = append(body, m.pickerAbout(w, m.h-len(body)-1)...)
	}
	if boxed {
		body = t.box("PGRLAB", t.dim.on("prioritized generative replay, steered while it trains"), pad(append([]string{""}, append(body, "")...)), w+6, len(body)+4, true)
		w += 6
	}
	keys := join(w, "   ", m.pickerHints()...)
	if boxed {
		keys = strings.Repeat(" ", (w-width(keys))/2) + keys
	}
	if len(body) < m.h-2 {
		body = append(body, "")
	}
	if len(body) < m.h {
		body = append(body, keys)
	}
	top := max(0, (m.h-len(body))/3)
	out := make([]string, top, m.h)
	left := strings.Repeat(" ", max(1, (m.w-w)/2))
	for _, l := range body {
		out = append(out, left+l)
	}
	return out
}

// pickerHints are the keys at the foot of the first screen.
func (m *Model) pickerHints() []string {
	var out []string
	for _, b := range pickerKeys() {
		if b.does != "" {
			out = append(out, m.theme.key.on(m.theme.keyLabel(b.short()))+" "+m.theme.dim.on(b.does))
		}
	}
	return out
}

// pickerFoot is the text that is typed and what it may become, below the questions.
func (m *Model) pickerFoot(w, h int) []string {
	e := m.entry
	out := []string{e.line(m.theme, w)}
	all := e.candidates(m)
	if len(all) == 0 && e.complete != nil {
		out = append(out, m.theme.dim.on("none has that in its name"))
	}
	for i := max(0, e.chosen-h+2); i < len(all) && len(out) < h; i++ {
		c := all[i]
		mark, ink := "  ", m.theme.text
		if i == e.chosen {
			mark, ink = m.theme.accent.on(m.theme.glyphs.cursor)+" ", m.theme.bold
		}
		line := mark + ink.on(m.theme.fit(c.text, 24)) + " "
		out = append(out, line+m.theme.dim.on(m.theme.clip(m.spelled(c.about), max(1, w-width(line)))))
	}
	return out
}

// pad moves lines two columns to the right.
func pad(lines []string) []string { return indent(indent(lines)) }

// pickerDoc is the whole explanation of the answer under the cursor.
func (m *Model) pickerDoc(w int) []string {
	var out []string
	for _, l := range wrap(m.spelled(m.pickedDoc(m.picker.row)), w) {
		out = append(out, m.theme.dim.on(l))
	}
	return out
}

// pickedDoc explains the answer to a question.
func (m *Model) pickedDoc(row int) string {
	p := m.picker
	items := p.items(row)
	switch {
	case row == pickSeed:
		return "the same seed gives the same run"
	case row == pickSteps:
		return "env steps of the run; arrows double and halve them"
	case row == pickRecent && len(p.recent) == 0:
		return "none yet"
	case len(items) > 0:
		return items[p.at[row]].Doc
	}
	return ""
}

// pickerRow is a question and its answer.
func (m *Model) pickerRow(row, w int) string {
	t, p := m.theme, m.picker
	mark, ink := "  ", t.dim
	if row == p.row {
		mark, ink = t.accent.on(t.glyphs.cursor)+" ", t.bold
	}
	head := mark + ink.on(t.fit(pickNames[row], 14))
	value, doc := p.name(row), m.pickedDoc(row)
	items := p.items(row)
	switch {
	case p.earlier() != nil && row != pickRecent:
		value, doc = t.dim.on(m.earlierAnswer(row, p.earlier())), ""
	case row == pickSeed:
		value = strconv.FormatUint(p.seed, 10)
	case row == pickSteps && p.steps > 0:
		value = count(p.steps)
	case row == pickRecent && len(p.recent) == 0:
		value = "-"
	case value == "" && row == pickRecent:
		value, doc = fmt.Sprintf("%d to look at", len(p.recent)), ""
	case row == pickRecent:
		value = t.middle(value, answerWidth(w))
	case value == "":
		value = t.dim.on(m.pickerDefault(row))
	}
	arrows := "   "
	if row == p.row && (len(items) > 1 || p.numeric()) {
		arrows = t.accent.on(t.glyphs.left+t.glyphs.right) + " "
	}
	text := head + arrows + t.fit(t.bold.on(value), answerWidth(w)) + " "
	if row == p.row && m.w >= ruledWidth && m.h >= ruledHeight || width(doc) > w-width(text) {
		doc = "" // it stands whole below
	}
	return t.fit(text+t.dim.on(doc), w)
}

// answerWidth is the room of an answer in a row of w columns.
func answerWidth(w int) int { return min(28, max(14, w/3)) }

// pickerDefault is what the preset says of an axis.
func (m *Model) pickerDefault(row int) string {
	c := m.picker.config
	switch row {
	case pickTask:
		return c.Task
	case pickMethod:
		return c.Method
	case pickSteps:
		if c.Steps == 0 { // the choice does not resolve
			return "-"
		}
		return count(c.Steps)
	default:
		return c.Scale
	}
}

// earlierAnswer is what an earlier run was made with.
func (m *Model) earlierAnswer(row int, c *lab.Config) string {
	switch {
	case c.Task == "": // its configuration cannot be read
		return "-"
	case row == pickPreset && c.Preset == "":
		return "-"
	case row == pickPreset:
		return c.Preset
	case row == pickSeed:
		return strconv.FormatUint(c.Seed, 10)
	case row == pickTask:
		return c.Task
	case row == pickMethod:
		return c.Method
	case row == pickSteps:
		return count(c.Steps)
	case row == pickDevice:
		return c.Device
	default:
		return c.Scale
	}
}

// pickerAbout says in at most h lines, if there are so many, what enter will do: how
// long it takes and how much it writes, or what is wrong.
func (m *Model) pickerAbout(w, h int) []string {
	t, p := m.theme, m.picker
	switch {
	case p.opened:
		return []string{t.stateStart.on(t.glyphs.dot + " opening")}
	case p.err != nil:
		return wrapStyled(t.bad.on(t.glyphs.cross+" "+p.err.Error()), w)
	}
	if i := p.at[pickRecent]; i > 0 {
		r := p.recent[i-1]
		text := fmt.Sprintf("%s: %s, %s steps", r.Dir, r.What, count(r.Step))
		if r.Return == r.Return {
			text += ", return " + number(r.Return)
		}
		return append(wrap(text, w), t.key.on("enter")+t.dim.on(" shows its journal; nothing is changed"),
			t.key.on("r")+t.dim.on(" goes on with it where it was saved last"))
	}
	if p.wrong != nil {
		return wrapStyled(t.bad.on(t.glyphs.cross+" "+p.wrong.Error()), w)
	}
	c := p.config
	what := t.bold.on(fmt.Sprintf("%s on %s", c.Method, c.Task)) +
		t.dim.on(fmt.Sprintf(", scale %s: %s env steps, %s updates a step, batch %s", c.Scale, count(c.Steps), count(c.Knobs.UTD), count(c.Knobs.Batch)))
	takes := m.takes(w)
	if out := append(wrapStyled(what, w), takes...); len(out) <= h {
		return out
	}
	return takes[:min(len(takes), max(1, h))] // the answers above say what
}
