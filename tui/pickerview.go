package tui

import (
	"fmt"
	"strconv"
	"strings"

	"pgrlab/core/lab"
)

// view is the first screen, of sw by sh: in a box where there is room for one.
func (p *picker) view(sw, sh int) []string {
	t := p.theme
	p.boxed = sw >= ruledWidth && sh >= ruledHeight
	w := min(sw-4, 100)
	if p.boxed {
		w = min(sw-8, 104)
	}
	var body []string
	for row := range pickRows {
		body = append(body, p.question(row, w))
	}
	switch about := p.explanation(w); {
	case p.typed() != nil:
		body = append(body, "")
		body = append(body, t.fill(p.foot(w, 7), w, 7)...)
	case p.boxed:
		body = append(body, "")
		body = append(body, t.fill(about, w, 2)...)
	}
	if p.typed() == nil {
		if len(body)+5 < sh {
			body = append(body, "")
		}
		body = append(body, p.about(w, sh-len(body)-1)...)
	}
	if p.boxed {
		body = t.box("PGRLAB", t.dim.on("prioritized generative replay, steered while it trains"), pad(append([]string{""}, append(body, "")...)), w+6, len(body)+4, true)
		w += 6
	}
	keys := join(w, "   ", p.hints()...)
	if p.boxed {
		keys = strings.Repeat(" ", (w-width(keys))/2) + keys
	}
	if len(body) < sh-2 {
		body = append(body, "")
	}
	if len(body) < sh {
		body = append(body, keys)
	}
	top := max(0, (sh-len(body))/3)
	out := make([]string, top, sh)
	left := strings.Repeat(" ", max(1, (sw-w)/2))
	for _, l := range body {
		out = append(out, left+l)
	}
	return out
}

// hints are the keys at the foot of the first screen.
func (p *picker) hints() []string {
	var out []string
	for _, b := range p.keys() {
		if b.does != "" {
			out = append(out, p.theme.key.on(p.theme.keyLabel(b.short()))+" "+p.theme.dim.on(b.does))
		}
	}
	return out
}

// foot is the text that is typed and what it may become, below the questions.
func (p *picker) foot(w, h int) []string {
	e := p.typed()
	out := []string{e.line(p.theme, w)}
	all := e.candidates()
	if len(all) == 0 && e.complete != nil {
		out = append(out, p.theme.dim.on("none has that in its name"))
	}
	for i := max(0, e.chosen-h+2); i < len(all) && len(out) < h; i++ {
		c := all[i]
		mark, ink := "  ", p.theme.text
		if i == e.chosen {
			mark, ink = p.theme.accent.on(p.theme.glyphs.cursor)+" ", p.theme.bold
		}
		line := mark + ink.on(p.theme.fit(c.text, 24)) + " "
		out = append(out, line+p.theme.dim.on(p.theme.clip(p.theme.spelled(c.about), max(1, w-width(line)))))
	}
	return out
}

// explanation is the whole explanation of the answer under the cursor.
func (p *picker) explanation(w int) []string {
	var out []string
	for _, l := range wrap(p.theme.spelled(p.doc(p.row)), w) {
		out = append(out, p.theme.dim.on(l))
	}
	return out
}

// doc explains the answer to a question.
func (p *picker) doc(row int) string {
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

// question is a question and its answer.
func (p *picker) question(row, w int) string {
	t := p.theme
	mark, ink := "  ", t.dim
	if row == p.row {
		mark, ink = t.accent.on(t.glyphs.cursor)+" ", t.bold
	}
	head := mark + ink.on(t.fit(pickNames[row], 14))
	value, doc := p.name(row), p.doc(row)
	items := p.items(row)
	switch {
	case p.earlier() != nil && row != pickRecent:
		value, doc = t.dim.on(p.earlierAnswer(row, p.earlier())), ""
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
		value = t.dim.on(p.presetAnswer(row))
	}
	arrows := "   "
	if row == p.row && (len(items) > 1 || p.numeric()) {
		arrows = t.accent.on(t.glyphs.left+t.glyphs.right) + " "
	}
	text := head + arrows + t.fit(t.bold.on(value), answerWidth(w)) + " "
	if row == p.row && p.boxed || width(doc) > w-width(text) {
		doc = "" // it stands whole below
	}
	return t.fit(text+t.dim.on(doc), w)
}

// answerWidth is the room of an answer in a row of w columns.
func answerWidth(w int) int { return min(28, max(14, w/3)) }

// presets is what the preset says of an axis.
func (p *picker) presetAnswer(row int) string {
	c := p.config
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
func (p *picker) earlierAnswer(row int, c *lab.Config) string {
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

// about says in at most h lines, if there are so many, what enter will do: how
// long it takes and how much it writes, or what is wrong.
func (p *picker) about(w, h int) []string {
	t := p.theme
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
	takes := p.takes(w)
	if out := append(wrapStyled(what, w), takes...); len(out) <= h {
		return out
	}
	return takes[:min(len(takes), max(1, h))] // the answers above say what
}
