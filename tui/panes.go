package tui

import (
	"fmt"
	"math"
	"path/filepath"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/lab"
)

// generatorBody is how the generator does: its fit, its samples, and when it is
// renewed.
func (m *Model) generatorBody(w, h int) []string {
	t, s := m.theme, m.snap
	if !m.generates() {
		return m.waiting(m.options.Config.Method+" has no generator", w, h)
	}
	label := func(name string) string { return t.dim.on(t.fit(name, 11)) }
	var out []string
	switch m.phase() {
	case lab.Score, lab.Fit, lab.Generate:
		text := fmt.Sprintf(" %s %s/%s", m.phase(), count(s.PhaseDone), count(s.PhaseTotal))
		if s.PhaseETA > 0 {
			text += t.dim.on(" ") + duration(s.PhaseETA)
		}
		out = append(out, label("now")+t.bar(float64(s.PhaseDone)/math.Max(1, float64(s.PhaseTotal)), min(24, w-11-width(text)))+text)
	default:
		if s.NextRefit > 0 {
			every := math.Max(1, m.effective("refit_every").Number)
			text := " in " + count(s.NextRefit) + t.dim.on(" steps")
			out = append(out, label("next refit")+t.bar(1-float64(s.NextRefit)/every, min(24, w-11-width(text)))+text)
		} else {
			out = append(out, label("next refit")+t.dim.on("none to come"))
		}
	}
	n := len(m.history.refits)
	if n == 0 {
		return append(out, t.dim.on("no generator fitted yet"))
	}
	last := m.history.refits[n-1]
	var losses []float64
	fits := 0
	for _, r := range m.history.refits {
		if r.steps > 0 {
			losses = append(losses, r.loss)
			fits++
		}
	}
	line := label("EDM loss") + number(lastOf(losses))
	if m.phase() == lab.Fit {
		line = label("EDM loss") + number(s.FitLoss) + t.dim.on(" now")
	}
	if room := w - width(line) - 2; len(losses) > 1 && room > 4 {
		line += "  " + t.synthetic.on(t.sparkline(losses, min(room, 24)))
	}
	out = append(out, line)
	age := s.Step - last.step
	out = append(out, label("D_syn")+count(s.Synthetic)+t.dim.on(" rows, ")+count(age)+t.dim.on(" steps old"))
	if last.seconds > 0 {
		what := "refit"
		if last.steps == 0 {
			what = "generation"
		}
		text := duration(seconds(last.seconds)) + t.dim.on(" the last "+what)
		if s.CostGenerate > 0 {
			text = longest([]string{text, text + t.dim.on(", ") + rate(m.effective("samples").Number/s.CostGenerate.Seconds()) + t.dim.on(" samples/s")}, w-11)
		}
		out = append(out, label("took")+text)
	}
	return append(out, m.generatedLines(w, label)...)
}

// generatedLines describe the newest D_syn by what was measured of it.
func (m *Model) generatedLines(w int, label func(string) string) []string {
	t, g := m.theme, m.history.generated
	if g == nil {
		return nil
	}
	var out []string
	if d := g.Dynamics; d != nil {
		line := label("dynamics") + number(float64(d.Relative)) + t.dim.on(" error of s'")
		if c := m.history.curve(curveDynamics, 0); c != nil && len(c.samples) > 1 {
			var past []float64
			for _, s := range c.samples {
				past = append(past, s.y)
			}
			if room := w - width(line) - 2; room > 4 {
				line += "  " + t.synthetic.on(t.sparkline(past, min(room, 24)))
			}
		}
		out = append(out, line)
	}
	out = append(out, label("outside")+percent(float64(g.OutsideStates))+t.dim.on(" of s, s'  ")+
		percent(float64(g.OutsideActions))+t.dim.on(" of a  ")+percent(float64(g.OutsideRewards))+t.dim.on(" of r"))
	return append(out, label("nearest")+number(float64(g.Nearest))+t.dim.on(" to a real row; real rows ")+number(float64(g.NearestReal)))
}

// askedText compares the F that prompts asked for with that of what came out.
func (m *Model) askedText(w int) string {
	t, g := m.theme, m.history.generated
	if g == nil || g.Asked == nil || g.Achieved == nil {
		return ""
	}
	pair := func(q *lab.Quantiles) string {
		return number(float64(q.Median)) + t.dim.on("..") + number(float64(q.Q90))
	}
	text := t.dim.on("asked ") + pair(g.Asked) + t.dim.on("  achieved ") + t.synthetic.on(pair(g.Achieved))
	texts := []string{text}
	if g.Obeyed != nil {
		texts = append(texts, text+t.dim.on("  rank corr. ")+fmt.Sprintf("%.2f", float64(*g.Obeyed)))
	}
	return longest(texts, w)
}

// generates says whether the run's method makes synthetic data.
func (m *Model) generates() bool {
	k, err := lab.FindKnob("samples")
	return err != nil || m.knobUse(k) == nil
}

func (m *Model) generatorNote(w int) string {
	n := 0
	for _, r := range m.history.refits {
		if r.steps > 0 {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	note := "fitted once"
	if n > 1 {
		note = fmt.Sprintf("fitted %d times", n)
	}
	return longest([]string{m.theme.dim.on(note)}, w)
}

// runsBody lists this run and those that it is compared with.
func (m *Model) runsBody(w, _ int) []string {
	t, h := m.theme, &m.history
	row := func(mark string, name string, h *history, state string) string {
		text := mark + " " + t.bold.on(t.fit(name, max(8, min(26, w-30))))
		if n := len(h.evaluations); n > 0 {
			e := h.evaluations[n-1]
			text += t.dim.on(" return ") + number(e.mean) + t.dim.on(" at ") + count(e.step)
		}
		return text + "  " + state + "  " + m.badge(h)
	}
	name := filepath.Base(m.options.Folder)
	if m.options.Folder == "" {
		name = m.options.Config.Method
	}
	out := []string{row(t.series[0].on(t.chart.Sample(0, 0)), name, h, m.stateText())}
	for i := range m.compared {
		o := &m.compared[i]
		look := m.lookOf(quantities[0], i)
		out = append(out, row(t.series[look%len(t.series)].on(t.chart.Sample(look, 0)), o.name, &o.history, t.dim.on("compared")))
	}
	return append(out, "", t.dim.on(t.fit(":compare DIR draws another run's curves beside these", w)))
}

// badge says whether people changed knobs while the run went on.
func (m *Model) badge(h *history) string {
	if n := h.touched(); n > 0 {
		return m.theme.warn.on(fmt.Sprintf("TOUCHED %s%d", m.theme.glyphs.times, n))
	}
	return m.theme.good.on("CLEAN")
}

// commandCompare reads another run's journal, outside the event loop.
func (m *Model) commandCompare(dir string) error {
	if dir == "" {
		return fmt.Errorf("compare: which run folder?")
	}
	if len(m.compared) >= 3 {
		return fmt.Errorf("compare: three runs beside this one are the most; esc takes them away")
	}
	load := m.options.LoadRun
	if load == nil {
		load = ReadJournal
	}
	m.later = func() tea.Msg {
		events, err := load(dir)
		return loaded{filepath.Base(filepath.Clean(dir)), events, err}
	}
	return nil
}

// overlayRun draws a run that was read beside this one.
func (m *Model) overlayRun(msg loaded) {
	if msg.err != nil {
		m.report(msg.err)
		return
	}
	o := other{name: msg.name, history: history{clock: clock{from: m.options.Config.StartSteps, utd: float64(m.options.Config.Knobs.UTD)}}}
	for _, e := range msg.events {
		o.history.take(e)
	}
	m.compared = append(m.compared, o)
	m.tell(msg.name + " is drawn beside this run; esc takes it away")
	m.history.touch(paneRuns)
	m.drawChartsAnew()
}

// paletteView is the candidates above the line that is being typed.
func (m *Model) paletteView() []string {
	t, e := m.theme, m.entry
	all := e.candidates(m)
	if len(all) == 0 || m.h < 8 {
		return nil
	}
	room := min(8, m.h-5)
	first := max(0, min(e.chosen-room/2, len(all)-room))
	w := min(m.w, 100)
	var body []string
	for i := first; i < min(len(all), first+room); i++ {
		mark, ink := "  ", t.text
		if i == e.chosen {
			mark, ink = t.accent.on(t.glyphs.cursor)+" ", t.bold
		}
		body = append(body, t.fit(mark+ink.on(t.fit(all[i].text, 24))+t.dim.on(m.spelled(all[i].about)), w-4))
	}
	return t.box("COMMANDS", t.dim.on(fmt.Sprintf("%d", len(all))), indent(body), w, len(body)+2, true)
}

// hints are the three things a new user needs; each goes when it was used.
var hints = []struct{ name, keys, text string }{
	{"more", "left right", "change the selected knob, enter applies it"},
	{"help", "?", "what every key does and every number means"},
	{"quit", "q", "leave: the run can go on without the screen"},
}

// used notes that a binding was used, for the hints.
func (m *Model) used(name string) {
	if name == "less" {
		name = "more"
	}
	for _, h := range hints {
		if h.name == name && !contains(m.memory.Used, name) {
			m.memory.Used = append(m.memory.Used, name)
			m.history.touch(paneEvents)
			m.remember()
		}
	}
}

// hintLines are the hints that are still needed, for the end of the events.
func (m *Model) hintLines(w int) []string {
	t := m.theme
	var out []string
	for _, h := range hints {
		if !contains(m.memory.Used, h.name) {
			out = append(out, t.fit(t.staged.on(t.fit(t.keyLabel(h.keys), 5))+" "+h.text, w))
		}
	}
	return out
}

// mapBody is where D_real and D_syn lie.
func (m *Model) mapBody(w, h int) []string {
	return m.waiting("this run does not measure where its transitions lie", w, h)
}
