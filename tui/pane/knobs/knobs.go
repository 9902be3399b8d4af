// Package knobs shows the knobs of a run and lets a person stage and send other values.
package knobs

import (
	"fmt"
	"math"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/knob"
	"pgrlab/tui/format"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/steer"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// Pane is the list of knobs, with an explanation of the selected one.
type Pane struct {
	*steer.Steering
	Selected int
	Top      int // the first knob shown
}

// New makes the pane of the knobs that s steers.
func New(s *steer.Steering) *Pane { return &Pane{Steering: s} }

// ID names the pane.
func (p *Pane) ID() pane.ID { return pane.Knobs }

// Tab is the name of the pane on the tab bar.
func (p *Pane) Tab() string { return string(pane.Knobs) }

// Title is the text in the border of the pane.
func (p *Pane) Title(w int) (title, note string) { return "KNOBS", p.knobsNote(w) }

// Keys are those that work while the pane is in focus.
func (p *Pane) Keys() []pane.Binding {
	return []pane.Binding{
		{Name: "up", Keys: []string{"up", "k"}, Label: "up k", Help: "the knob above", Action: p.up},
		{Name: "down", Keys: []string{"down", "j"}, Label: "down j", Help: "the knob below", Action: p.down},
		{Name: "more", Of: pane.LiveRun, Keys: []string{"right", "l"}, Label: "right l", Hint: "up down left right", Does: "change", Help: "stage the next value of the knob; nothing is sent yet", Action: p.more},
		{Name: "less", Keys: []string{"left", "h"}, Label: "left h", Help: "stage the previous value of the knob", Action: p.less},
		{Name: "edit", Keys: []string{"e"}, Help: "type a value for the knob", Action: p.edit},
		{Name: "apply", Of: pane.LiveRun, Keys: []string{"enter"}, Does: "apply", Help: "send the staged values; a change that needs a refit or new samples is made now if that takes under 5 s, otherwise it asks", Action: p.apply},
		{Name: "now", Of: pane.LiveRun, Keys: []string{"!"}, Does: "now", Help: "send the staged values and redo at once what they need (samples, or score, fit and samples); asks if that takes over 5 s", Action: p.ApplyNow},
		{Name: "at", Of: pane.LiveRun, Keys: []string{"@"}, Does: "at step", Help: "have the staged values applied after an env step to come", Action: p.ApplyAt},
		{Name: "drop", Keys: []string{"delete"}, Help: "drop the staged values", Action: p.DropStaged},
	}
}

// Verbs are the commands of the pane.
func (p *Pane) Verbs() []pane.Verb {
	return []pane.Verb{
		{Name: "set", About: "stage and apply a knob: set guidance 3, set F td!, set r 0.75 @20000", Arguments: p.usedKnobs, Run: p.CommandSet},
		{Name: "stage", About: "stage a knob's value without applying it", Arguments: p.usedKnobs, Run: p.CommandStage},
		{Name: "undo", About: "take change N back, or the last one", Arguments: nil, Run: p.CommandUndo},
		{Name: "cancel", About: "take a planned change off the schedule: cancel guidance, cancel r @20000", Arguments: p.PlannedKnobs, Run: p.CommandCancel},
	}
}

// Scroll moves with the wheel of the mouse.
func (p *Pane) Scroll(by int) tea.Cmd { return p.selectKnob(by) }

// apply sends the staged changes; without any it starts typing a value.
func (p *Pane) apply() tea.Cmd {
	if len(p.Staged) == 0 {
		return p.edit()
	}
	return p.ApplyStaged()
}

// DependsOn are the topics that the pane shows.
func (p *Pane) DependsOn() []topic.Topic {
	return []topic.Topic{topic.Snapshot, topic.Changes, topic.Staged}
}

// Body lists the knobs and explains the selected one below. Those that the method does not use have one
// row together until the cursor gets there.
func (p *Pane) Body(w, h int) []string {
	rows := p.UsedKnobs()
	others := len(p.KnobList) - rows
	if p.Selected >= rows {
		rows, others = len(p.KnobList), 0
	}
	most := max(2, h/4, h-rows-min(others, 1)-1) // a low pane favours the list
	if h >= 10 {
		most = max(most, 3)
	}
	detail := p.knobDetail(w, most)
	detail = detail[:min(most, len(detail))]
	room := max(h-len(detail), min(rows, max(3, h/2)))
	room = max(1, min(room, rows, h))
	p.Top = max(0, min(p.Top, rows-room))
	p.Top = min(max(p.Top, p.Selected-room+1), p.Selected)
	var out []string
	for i := p.Top; i < p.Top+room; i++ {
		out = append(out, p.knobRow(i, w))
	}
	if others > 0 && len(out)+len(detail) < h {
		out = append(out, p.Theme.Faint.On(p.Theme.Clip(fmt.Sprintf("  %d more, which %s does not use", others, p.About.Config.Method), w)))
	}
	if spare := h - len(out) - len(detail); spare > 0 {
		out = append(out, "")
	}
	return append(out, detail...)
}

// Widths of the columns of a knob's row.
const (
	symbolWidth = 4
	nameWidth   = 16
	gaugeWidth  = 12
	valueWidth  = 30 // the limit in front of the gauge, so that the eye finds the gauge
)

// knobRow is one knob: symbol, name, value, and the value's position in its range.
func (p *Pane) knobRow(i, w int) string {
	t, k := p.Theme, p.KnobList[i]
	cursor := "  "
	ink := t.Text
	if i == p.Selected {
		cursor, ink = t.Accent.On(t.Glyphs.Cursor)+" ", t.Bold
	}
	used := p.KnobUse(k) == nil
	if !used {
		ink = t.Faint
	}
	if w < 46 {
		return p.knobRowNarrow(k, cursor[:len(cursor)-1], ink, w)
	}
	left := cursor + t.Dim.On(t.Fit(k.Symbol, symbolWidth)) + ink.On(t.Fit(k.Name, nameWidth))
	gauge := gaugeWidth
	if spare := w - theme.Width(left) - valueWidth - gaugeWidth; spare > 0 {
		gauge += min(spare, gaugeWidth)
	}
	value := t.Fit(" "+p.knobValue(k, i == p.Selected, used), min(valueWidth, w-theme.Width(left)-gauge))
	return left + value + p.knobGauge(k, used, gauge)
}

// knobRowNarrow is a knob without its gauge. The name gives way to the value; for a staged value,
// the old value gives way to the name.
func (p *Pane) knobRowNarrow(k knob.Knob, cursor string, ink theme.Ink, w int) string {
	t := p.Theme
	left := cursor + t.Dim.On(t.Fit(k.Symbol, symbolWidth))
	value := p.knobValue(k, k.Name == p.KnobList[p.Selected].Name, p.KnobUse(k) == nil)
	if v, staged := p.Staged[k.Name]; staged && theme.Width(left)+theme.Width(k.Name)+1+theme.Width(value) > w {
		value = t.Glyphs.Arrow + " " + t.Staged.On(pane.Readable(v)+"*")
	}
	if k.TakesFormulas() { // a formula leaves some of its name
		value = t.Clip(value, max(8, w-theme.Width(left)-4))
	}
	room := max(0, w-theme.Width(left)-theme.Width(value)-1)
	return t.Spread(left+ink.On(t.Fit(k.Name, min(room, nameWidth))), value, w)
}

// knobValue is the effective value, followed by an arrow and the staged or typed one.
func (p *Pane) knobValue(k knob.Knob, selected, used bool) string {
	t := p.Theme
	now := pane.Readable(p.Effective(k.Name))
	if !used {
		return t.Faint.On(now)
	}
	if selected && p.typing() {
		if k.TakesFormulas() { // what is typed stands below, where it has room
			return now + " " + t.Glyphs.Arrow + " " + t.Glyphs.Ellipsis
		}
		return now + " " + t.Glyphs.Arrow + " " + t.Staged.On(p.Typed().Text()) + t.UnderCursor(" ")
	}
	if v, ok := p.Staged[k.Name]; ok {
		if strings.HasPrefix(v.Text, "=") {
			now = ""
		}
		return now + " " + t.Glyphs.Arrow + " " + t.Staged.On(pane.Readable(v)+"*")
	}
	return t.Bold.On(now)
}

// typedFormula is what is typed for F, over as many lines as it takes, at most so many around the one with
// the cursor.
func (p *Pane) typedFormula(w, most int) []string {
	t, e := p.Theme, p.Typed()
	runes := []rune(e.Text() + " ")
	at := min(e.Input.Position(), len(runes)-1)
	var out []string
	for from := 0; from < len(runes); from += w {
		line, to := "", min(from+w, len(runes))
		if at < from || at >= to {
			line = t.Staged.On(string(runes[from:to]))
		} else {
			line = t.Staged.On(string(runes[from:at])) + t.UnderCursor(string(runes[at:at+1])) + t.Staged.On(string(runes[at+1:to]))
		}
		out = append(out, line)
	}
	first := max(0, min(at/w, len(out)-most))
	return out[first:min(len(out), first+most)]
}

// knobGauge is the position of a number in its range or of a choice among the choices, or the
// change that is under way.
func (p *Pane) knobGauge(k knob.Knob, used bool, w int) string {
	t := p.Theme
	if !used {
		return t.Faint.On(t.Fit("not used", w))
	}
	for i := len(p.History.Changes) - 1; i >= 0; i-- {
		c := p.History.Changes[i]
		if c.Knob != k.Name || c.State == history.Refused || c.State == history.Cancelled {
			continue
		}
		switch c.State {
		case history.Asked:
			if c.At > 0 {
				return t.Dim.On(t.Fit("at "+format.Count(c.At), w))
			}
			return t.Warn.On(t.Fit("pending"+t.Glyphs.Wait, w))
		case history.Applied:
			return t.Warn.On(t.Fit(fmt.Sprintf("#%d set", c.Number), w))
		}
		break
	}
	if p.Snap != nil {
		for _, s := range p.Snap.Scheduled {
			if s.Knob == k.Name {
				return t.Dim.On(t.Fit("at "+format.Count(s.At.Step), w))
			}
		}
	}
	v := p.Wanted(k.Name)
	if k.Kind == knob.KindChoice {
		for i, c := range k.Choices {
			if c == v.Text {
				return t.Dim.On(t.Fit(fmt.Sprintf("%d of %d", i+1, len(k.Choices)), w))
			}
		}
		return t.Dim.On(t.Fit("formula", w))
	}
	return p.knobSlider(place01(k, v.Number), place01(k, p.Effective(k.Name).Number), w)
}

// knobSlider is a line of w columns with a handle at the wanted value, and a ring at the effective
// value if the two differ.
func (p *Pane) knobSlider(wanted, now float64, w int) string {
	t := p.Theme
	column := func(x float64) int { return int(math.Round(math.Max(0, math.Min(1, x)) * float64(w-1))) }
	at, was := column(wanted), column(now)
	line := func(from, to int, colour theme.Ink) string {
		return colour.On(strings.Repeat(t.Glyphs.Horizontal, max(0, to-from)))
	}
	if wanted == now {
		return line(0, at, t.BarFull) + t.BarFull.On(t.Glyphs.Dot) + line(at+1, w, t.Faint)
	}
	if at == was { // the change is too small for the line
		return line(0, at, t.BarFull) + t.Staged.On(t.Glyphs.Dot) + line(at+1, w, t.Faint)
	}
	knob, ring := t.Staged.On(t.Glyphs.Dot), t.BarFull.On(t.Glyphs.Ring)
	if at < was {
		return line(0, at, t.BarFull) + knob + line(at+1, was, t.Faint) + ring + line(was+1, w, t.Faint)
	}
	return line(0, was, t.BarFull) + ring + line(was+1, at, t.Staged) + knob + line(at+1, w, t.Faint)
}

// place01 is the position of x between the ends of the knob's range; a logarithmic range from 0
// starts at knob.LogFloor.
func place01(k knob.Knob, x float64) float64 {
	lo, hi := k.Min, k.Max
	if k.Scale == knob.ScaleLog {
		lo, hi, x = math.Log10(math.Max(lo, knob.LogFloor)), math.Log10(hi), math.Log10(math.Max(x, knob.LogFloor))
	}
	if !(hi > lo) {
		return 0
	}
	return (x - lo) / (hi - lo)
}

// knobDetail explains the selected knob: what it is, what the staged change does and when, what
// became of the last change. If room is short the first of these have priority, and a sentence is
// cut after a word.
func (p *Pane) knobDetail(w, room int) []string {
	t, k := p.Theme, p.KnobList[p.Selected]
	var out []string
	add := func(colour theme.Ink, text string, most int) {
		lines := theme.Wrap(text, w)
		if most = min(most, room-len(out)); len(lines) > max(0, most) {
			if most <= 0 {
				return
			}
			lines[most-1] = t.Clip(strings.Join(lines[most-1:], " "), w)
			lines = lines[:most]
		}
		for _, l := range lines {
			out = append(out, colour.On(l))
		}
	}
	if p.Message != "" {
		add(t.Bad, t.Glyphs.Cross+" "+p.Message, len(p.Message))
		return out
	}
	if last := p.LastChange(); last != nil && len(p.Staged) == 0 && !p.typing() {
		if room < 4 {
			out = append(out, t.Fit(p.ChangeText(last, w), w))
		} else {
			out = append(out, theme.WrapStyled(p.ChangeText(last, 2*w-8), w)...)
		}
	}
	if p.typing() && k.TakesFormulas() {
		most := max(1, room-1)
		if p.Typed().Wrong() != "" {
			most = max(1, room-2)
		}
		out = p.typedFormula(max(1, w), most)
	}
	switch err := p.KnobUse(k); {
	case err != nil:
		add(t.Dim, err.Error(), room)
	case p.typing() && p.Typed().Wrong() != "":
		add(t.Bad, t.Glyphs.Cross+" "+p.Typed().Wrong(), room)
	case p.typing() && k.TakesFormulas():
		add(t.Dim, "a name, or a formula of what tab completes: enter stages it, esc drops it", room)
	case p.typing():
		add(t.Staged, k.Range()+": enter stages it, esc drops it", room)
	case len(p.Staged) > 0:
		add(t.Staged, p.StagedEffect(), max(1, room-1))
		if text := p.forecast(k); text != "" && room >= 4 {
			add(t.Dim, p.Spelled(text), room-1-len(out))
		}
		add(t.Dim, theme.Longest([]string{"enter apply · ! now · @ at a step · esc drop", "enter apply · ! now · esc drop", "enter apply · esc drop"}, w), 1)
	default:
		if text := p.mixText(k); text != "" {
			add(t.Text, text, room)
		}
		if text := p.Exposure(); text != "" {
			add(t.Accent, text, max(1, room/3))
			add(t.Dim, p.anyway(), 1)
		}
		add(t.Dim, k.Doc+pane.UnitOf(k)+"; "+pane.TakesEffect(k.Class), room)
	}
	return out
}

// forecast says what is known beforehand of what is staged.
func (p *Pane) forecast(k knob.Knob) string {
	text := p.PreviewText()
	if _, staged := p.Staged[k.Name]; staged && k.Class == knob.ClassBatch && text == "" {
		return "no forecast of a return: a fan is the forecast (f)"
	}
	return text
}

// typing says whether a value is being typed in the knobs.
func (p *Pane) typing() bool { return p.Typed() != nil && p.Typed().Pane == pane.Knobs }

// mixText spells out the mix of a batch that r, batch and hold result in; "" for other knobs.
func (p *Pane) mixText(k knob.Knob) string {
	switch k.Name {
	case "ratio", "batch", "hold":
	default:
		return ""
	}
	settings := p.About.Config.Knobs
	for _, name := range []string{"ratio", "batch", "hold"} {
		if settings.Set(name, p.Wanted(name).String()) != nil {
			return "" // the lab will say why
		}
	}
	if settings.Hold == knob.HoldReal && settings.Ratio >= 1 {
		return "" // no batch is large enough
	}
	mix := p.About.Config.Mix(&settings, math.MaxInt)
	before := ""
	if p.Snap != nil && p.Snap.Synthetic == 0 && mix.Synthetic > 0 {
		before = "; all real before the first generation"
	}
	return fmt.Sprintf("r %v %s batch %s = %s real + %s synthetic", settings.Ratio, p.Theme.Glyphs.Separator, format.Count(mix.Size()), format.Count(mix.Real), format.Count(mix.Synthetic)) + before
}

func (p *Pane) knobsNote(w int) string {
	if n := len(p.Staged); n > 0 {
		return p.Theme.Staged.On(fmt.Sprintf("%d staged", n))
	}
	if w < 40 {
		return ""
	}
	return p.Theme.Dim.On(fmt.Sprintf("%d of %d", p.Selected+1, len(p.KnobList)))
}

func (p *Pane) more() tea.Cmd { return p.stageNext(1) }

func (p *Pane) less() tea.Cmd { return p.stageNext(-1) }

func (p *Pane) stageNext(by int) tea.Cmd {
	k := p.KnobList[p.Selected]
	if p.Usable(k) {
		p.Stage(k, k.Next(p.Wanted(k.Name), by))
	}
	return nil
}
