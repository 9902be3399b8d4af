package picker

import (
	"fmt"
	"strconv"
	"strings"

	"pgrlab/core/config"
	"pgrlab/tui/format"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// View is the first screen, of sw by sh cells: in a box if there is room for one.
func (p *Picker) View(sw, sh int) []string {
	t := p.theme
	p.boxed = sw >= pane.RuledWidth && sh >= pane.RuledHeight
	w := min(sw-4, 100)
	if p.boxed {
		w = min(sw-8, 104)
	}
	var body []string
	for row := range pickRows {
		if row == pickObservation && row != p.Row && sh <= pickRows+1 {
			continue // the keys need the line more
		}
		body = append(body, p.question(row, w))
	}
	switch about := p.explanation(w); {
	case p.Typed() != nil:
		body = append(body, "")
		body = append(body, t.Fill(p.foot(w, 7), w, 7)...)
	case p.boxed:
		body = append(body, "")
		body = append(body, t.Fill(about, w, 2)...)
	}
	if p.Typed() == nil {
		if len(body)+5 < sh {
			body = append(body, "")
		}
		body = append(body, p.about(w, sh-len(body)-1)...)
	}
	if p.boxed {
		body = t.Box("PGRLAB", t.Dim.On("prioritized generative replay, steered while it trains"), theme.Pad(append([]string{""}, append(body, "")...)), w+6, len(body)+4, true)
		w += 6
	}
	keys := p.hints(w)
	if p.boxed {
		keys = strings.Repeat(" ", (w-theme.Width(keys))/2) + keys
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

// hints are the keys at the foot of the first screen, as far as they fit; help and quit are always
// there.
func (p *Picker) hints(w int) string {
	const gap = "   "
	var hints, last []string
	for _, b := range p.Keys() {
		hint := p.theme.Key.On(p.theme.KeyLabel(b.Short())) + " " + p.theme.Dim.On(b.Does)
		switch {
		case b.Name == "help" || b.Name == "quit":
			last = append(last, hint)
		case b.Does != "":
			hints = append(hints, hint)
		}
	}
	end := theme.Join(w, gap, last...)
	return theme.Join(w, gap, theme.Join(w-theme.Width(end)-len(gap), gap, hints...), end)
}

// foot is the typed text and its completions, below the questions.
func (p *Picker) foot(w, h int) []string {
	e := p.Typed()
	out := []string{e.Line(p.theme, w)}
	all := e.Candidates()
	if _, err := number(p.Row, e.Text()); err != nil && len(all) == 0 && e.Text() != "" && e != p.named.entry {
		out = append(out, p.theme.Dim.On("none has that in its name"))
	}
	width := min(24, w-4)
	for _, c := range all {
		width = max(width, min(theme.Width(c.Text), answerWidth(w)+8))
	}
	for i := max(0, e.Chosen-h+2); i < len(all) && len(out) < h; i++ {
		c := all[i]
		mark, ink := "  ", p.theme.Text
		if i == e.Chosen {
			mark, ink = p.theme.Accent.On(p.theme.Glyphs.Cursor)+" ", p.theme.Bold
		}
		line := mark + ink.On(p.theme.Fit(p.theme.Middle(c.Text, width), width)) + " "
		out = append(out, line+p.theme.Dim.On(p.theme.Clip(p.theme.Spelled(c.About), max(1, w-theme.Width(line)))))
	}
	return out
}

// explanation is the whole explanation of the answer under the cursor.
func (p *Picker) explanation(w int) []string {
	var out []string
	for _, l := range theme.Wrap(p.theme.Spelled(p.doc(p.Row)), w) {
		out = append(out, p.theme.Dim.On(l))
	}
	return out
}

// doc explains the answer to a question.
func (p *Picker) doc(row int) string {
	items := p.items(row)
	switch {
	case row == pickSeed:
		return "the same seed gives the same run"
	case row == pickSteps && p.config.Environment.InLockstep() > 1:
		return "steps of all copies; arrows double and halve them"
	case row == pickSteps:
		return "env steps of the run; arrows double and halve them"
	case row == PickRecent && p.reads:
		return "reading their journals" + p.theme.Glyphs.Wait
	case row == PickRecent && len(p.Recent) == 0:
		return "none yet"
	case len(items) > 0:
		return items[p.at[row]].Doc
	}
	return ""
}

// question is a question and its answer.
func (p *Picker) question(row, w int) string {
	t := p.theme
	mark, ink := "  ", t.Dim
	if row == p.Row {
		mark, ink = t.Accent.On(t.Glyphs.Cursor)+" ", t.Bold
	}
	head := mark + ink.On(t.Fit(pickNames[row], 14))
	value, doc := p.name(row), p.doc(row)
	items := p.items(row)
	switch {
	case p.earlier() != nil && row != PickRecent && row != pickDevice: // the device is that of a resume
		value, doc = t.Dim.On(p.earlierAnswer(row, p.earlier())), ""
	case row == pickSeed:
		value = strconv.FormatUint(p.Seed, 10)
	case row == pickSteps && p.Steps > 0:
		value = format.Count(p.Steps)
	case row == PickRecent && len(p.Recent) == 0:
		value = "-"
	case value == "" && row == PickRecent:
		value, doc = fmt.Sprintf("%d to look at", len(p.Recent)), ""
	case row == PickRecent:
		value = t.Middle(value, answerWidth(w))
	case row == pickTask && value != "":
		value = t.Middle(value, answerWidth(w)) // a command or a path
	case value == "":
		value = t.Dim.On(p.presetAnswer(row))
	}
	arrows := "   "
	if row == p.Row && (len(items) > 1 || p.numeric()) {
		arrows = t.Accent.On(t.Glyphs.Left+t.Glyphs.Right) + " "
	}
	text := head + arrows + t.Fit(t.Bold.On(t.Spelled(value)), answerWidth(w)) + " "
	if row == p.Row && p.boxed || theme.Width(doc) > w-theme.Width(text) {
		doc = "" // the whole text is shown below
	}
	return t.Fit(text+t.Dim.On(doc), w)
}

// answerWidth is the width of an answer in a row of w columns.
func answerWidth(w int) int { return min(28, max(14, w/3)) }

// presetAnswer is what the preset says for an axis.
func (p *Picker) presetAnswer(row int) string {
	c := p.config
	switch row {
	case pickTask:
		return c.Task
	case pickMethod:
		return c.Method
	case pickObservation:
		return c.Observation()
	case pickSteps:
		if c.Steps == 0 { // the choice does not resolve
			return "-"
		}
		return format.Count(c.Steps)
	default:
		return c.Scale
	}
}

// earlierAnswer is the answer with which an earlier run was made.
func (p *Picker) earlierAnswer(row int, c *config.Config) string {
	switch {
	case c.Task == "": // its configuration is unreadable
		return "-"
	case row == PickPreset && c.Preset == "":
		return "-"
	case row == PickPreset:
		return c.Preset
	case row == pickSeed:
		return strconv.FormatUint(c.Seed, 10)
	case row == pickTask:
		return c.Task
	case row == pickMethod:
		return c.Method
	case row == pickSteps:
		return format.Count(c.Steps)
	case row == pickObservation:
		return c.Observation()
	default:
		return c.Scale
	}
}

// about says in at most h lines, if there are that many, what enter will do: how long it takes and
// how much it writes, or what is wrong.
func (p *Picker) about(w, h int) []string {
	t := p.theme
	switch {
	case p.opened:
		return []string{t.StateStart.On(t.Glyphs.Dot + " opening")}
	case p.err != nil:
		return theme.WrapStyled(t.Bad.On(t.Glyphs.Cross+" "+p.err.Error()), w)
	case p.named.asked != "":
		return theme.WrapStyled(t.StateStart.On(t.Glyphs.Dot+" playing "+p.named.asked), w)
	}
	if i := p.at[PickRecent]; i > 0 {
		r := p.Recent[i-1]
		text := fmt.Sprintf("%s: %s, %s steps", r.Dir, r.What, format.Count(r.Step))
		if r.Return == r.Return {
			text += ", return " + format.Number(r.Return)
		}
		return append(theme.Wrap(text, w), t.Key.On("enter")+t.Dim.On(" shows its journal; nothing is changed"),
			t.Key.On("r")+t.Dim.On(" continues it where it was saved last"))
	}
	if _, is := p.unnamed(); is {
		return []string{t.Key.On("enter") + t.Dim.On(" asks for it")}
	}
	if p.wrong != nil {
		return theme.WrapStyled(t.Bad.On(t.Glyphs.Cross+" "+p.wrong.Error()), w)
	}
	c := p.config
	what := t.Bold.On(fmt.Sprintf("%s on %s", c.Method, c.Task)) + t.Dim.On(fmt.Sprintf(", scale %s: %s", c.Scale, work(&c)))
	takes := p.takes(w)
	if all := p.findings(); all != nil && p.Row == pickTask {
		head := theme.WrapStyled(what, w)
		if p.boxed {
			h -= 5 // the box and the keys
		}
		return append(append(head, p.lines(all, w, h-len(head)-1)...), takes[:min(1, len(takes))]...)
	}
	whole := append(theme.WrapStyled(what, w), takes...)
	for _, out := range [][]string{append(whole, p.expects(w)...), whole, append(takes, p.expects(w)...)} {
		if len(out) <= h {
			return out
		}
	}
	return takes[:min(len(takes), max(1, h))] // the answers above say what
}
