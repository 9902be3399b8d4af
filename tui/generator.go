package tui

import (
	"fmt"
	"math"

	"pgrlab/core/knob"
)

// generatorPane is how the generator does.
type generatorPane struct {
	*runView
}

func newGenerator(r *runView) *generatorPane { return &generatorPane{runView: r} }

// ID names the pane.
func (m *generatorPane) ID() paneID { return paneGenerator }

// Tab is its name on the tab bar.
func (m *generatorPane) Tab() string { return string(paneGenerator) }

// Title is what its border says.
func (m *generatorPane) Title(w int) (title, note string) {
	return "GENERATOR", m.generatorNote(w - 18)
}

// Keys work while it is in focus.
func (m *generatorPane) Keys() []binding { return nil }

// DependsOn are the topics that it shows.
func (m *generatorPane) DependsOn() []topic { return []topic{topicSnapshot, topicGenerations} }

// Body is how the generator does: its fit, its samples, and when it is
// renewed.
func (m *generatorPane) Body(w, h int) []string {
	t, s := m.theme, m.snap
	if !m.generates() {
		return m.waiting(m.about.Config.Method+" has no generator", w, h)
	}
	label := func(name string) string { return t.dim.on(t.fit(name, 11)) }
	var out []string
	switch {
	case m.remaking() && !m.ended():
		text := fmt.Sprintf(" %s %s/%s", m.phase(), count(s.PhaseDone), count(s.PhaseTotal))
		if s.PhaseETA > 0 {
			text += t.dim.on(" ") + duration(s.PhaseETA)
		}
		out = append(out, label("now")+t.bar(float64(s.PhaseDone)/math.Max(1, float64(s.PhaseTotal)), min(24, w-11-width(text)))+text)
	default:
		if m.nextRefit() > 0 {
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
	if m.phase() == knob.Fit {
		line = label("EDM loss") + number(s.FitLoss) + t.dim.on(" now")
	}
	if room := w - width(line) - 2; len(losses) > 1 && room > 4 {
		line += "  " + t.synthetic.on(t.trend(losses, min(room, 30)))
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
func (m *generatorPane) generatedLines(w int, label func(string) string) []string {
	t, g := m.theme, m.history.generated
	if g == nil {
		return nil
	}
	var out []string
	if v := worth(g); v != "" {
		out = append(out, v)
	}
	if d := g.Dynamics; d != nil {
		line := label("dynamics") + number(float64(d.Relative)) + t.dim.on(" error of s'")
		if c := m.history.curve(curveDynamics, 0); c != nil && len(c.samples) > 1 {
			var past []float64
			for _, s := range c.samples {
				past = append(past, s.y)
			}
			if room := w - width(line) - 2; room > 4 {
				line += "  " + t.synthetic.on(t.trend(past, min(room, 30)))
			}
		}
		out = append(out, line)
	}
	out = append(out, label("outside")+percent(float64(g.OutsideStates))+t.dim.on(" of s, s'  ")+
		percent(float64(g.OutsideActions))+t.dim.on(" of a  ")+percent(float64(g.OutsideRewards))+t.dim.on(" of r"))
	return append(out, label("nearest")+number(float64(g.Nearest))+t.dim.on(" to a real row; real rows ")+number(float64(g.NearestReal)))
}

func (m *generatorPane) generatorNote(w int) string {
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

// lastOf is the last of values, or NaN.
func lastOf(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return values[len(values)-1]
}
