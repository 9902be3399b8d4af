// Package generator shows the state of the generator: its fits, its samples and their worth.
package generator

import (
	"fmt"
	"math"
	"slices"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/format"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// Pane is the state of the generator.
type Pane struct {
	*pane.Run

	frames frames
}

// New makes the pane of a run.
func New(r *pane.Run) *Pane { return &Pane{Run: r} }

// ID names the pane.
func (p *Pane) ID() pane.ID { return pane.Generator }

// Tab is the name of the pane on the tab bar.
func (p *Pane) Tab() string {
	if p.Imagines() {
		return "world model"
	}
	return string(pane.Generator)
}

// Title is the text in the border of the pane.
func (p *Pane) Title(w int) (title, note string) {
	if p.Imagines() {
		return "WORLD MODEL", p.worldNote(w - 20)
	}
	return "GENERATOR", p.generatorNote(w - 18)
}

// Keys are those that work while the pane is in focus.
func (p *Pane) Keys() []pane.Binding { return nil }

// DependsOn are the topics that the pane shows.
func (p *Pane) DependsOn() []topic.Topic { return []topic.Topic{topic.Snapshot, topic.Generations} }

// Body is the state of the generator: its fit, its samples, and when it is renewed.
func (p *Pane) Body(w, h int) []string {
	t, s := p.Theme, p.Snap
	if p.Imagines() {
		return p.worldBody(w, h)
	}
	if !p.Generates() {
		return p.Waiting(p.About.Config.Method+" has no generator", w, h)
	}
	label := func(name string) string { return t.Dim.On(t.Fit(name, 11)) }
	var out []string
	switch {
	case p.Remaking() && !p.Ended():
		text := fmt.Sprintf(" %s %s/%s", s.Doing(), format.Count(s.PhaseDone), format.Count(s.PhaseTotal))
		if s.PhaseETA > 0 {
			text += t.Dim.On(" ") + format.Duration(s.PhaseETA)
		}
		out = append(out, label("now")+t.Bar(float64(s.PhaseDone)/math.Max(1, float64(s.PhaseTotal)), min(24, w-11-theme.Width(text)))+text)
	case !p.Dreams():
		if p.NextRefit() > 0 {
			every := math.Max(1, p.Effective("refit_every").Number)
			text := " in " + format.Count(s.NextRefit) + t.Dim.On(" steps")
			out = append(out, label("next refit")+t.Bar(1-float64(s.NextRefit)/every, min(24, w-11-theme.Width(text)))+text)
		} else {
			out = append(out, label("next refit")+t.Dim.On("none to come"))
		}
	}
	n := len(p.History.Refits)
	if n == 0 {
		fitted := "no generator fitted yet"
		if p.Phase() == knob.Generate { // the refit is an event once its rows are made
			fitted = "fitted once; its first rows are being made"
		}
		return append(out, t.Dim.On(fitted))
	}
	last := p.History.Refits[n-1]
	var losses []float64
	fits := 0
	for _, r := range p.History.Refits {
		if r.Steps > 0 {
			losses = append(losses, r.Loss)
			fits++
		}
	}
	line := label("loss") + format.Number(lastOf(losses))
	if p.Phase() == knob.Fit {
		line = label("loss") + format.Number(s.FitLoss) + t.Dim.On(" now")
	}
	if room := w - theme.Width(line) - 2; len(losses) > 1 && room > 4 {
		line += "  " + t.Synthetic.On(t.Trend(losses, min(room, 30)))
	}
	out = append(append(out, line), p.modelLines(w, label)...)
	held := label("D_syn") + format.Count(s.Synthetic) + t.Dim.On(" rows")
	switch {
	case s.Share > 0:
		held = theme.Longest([]string{held + t.Dim.On(", ") + format.Percent(s.Share) + t.Dim.On(" new"), held + t.Dim.On(", ") + format.Percent(s.Share) + t.Dim.On(" new, others ") + format.Count(s.Step-last.Step) + t.Dim.On(" steps old")}, w)
	case !p.Dreams() && p.About.Config.Generator.Generations() > 1:
		held += t.Dim.On(", the newest ") + format.Count(s.Step-last.Step) + t.Dim.On(" steps old")
	case !p.Dreams():
		held += t.Dim.On(", ") + format.Count(s.Step-last.Step) + t.Dim.On(" steps old")
	}
	out = append(out, held)
	if last.Seconds > 0 {
		what := "refit"
		if last.Steps == 0 {
			what = "generation"
		}
		text := format.Duration(format.Seconds(last.Seconds)) + t.Dim.On(" the last "+what)
		if s.CostGenerate > 0 {
			text = theme.Longest([]string{text, text + t.Dim.On(", ") + format.Rate(p.Effective("samples").Number/s.CostGenerate.Seconds()) + t.Dim.On(" samples/s")}, w-11)
		}
		out = append(out, label("took")+text)
	}
	return append(out, p.generatedLines(w, label)...)
}

// modelLines are the networks of an ensemble by their errors on rows that were held out, elites
// marked, and the newest rollouts.
func (p *Pane) modelLines(w int, label func(string) string) (out []string) {
	t, refits := p.Theme, p.History.Refits
	for i := len(refits) - 1; i >= 0; i-- {
		if of := refits[i].Ensemble; of != nil && len(of.HeldOut) > 0 {
			best := format.Number(of.Best())
			out = append(out, label("held out")+p.members(of, w-11), label("elites")+theme.Longest([]string{best, best + t.Dim.On(" of a constant's error")}, w-11))
			var past []float64
			if c := p.History.Main(history.CurveHeldOut); c != nil {
				for _, s := range c.Samples {
					past = append(past, s.Y)
				}
			}
			if room := w - theme.Width(out[1]) - 2; len(past) > 1 && room > 4 {
				out[1] += "  " + t.Synthetic.On(t.Trend(past, min(room, 30)))
			}
			break
		}
	}
	of := refits[len(refits)-1].Rollouts
	if of == nil {
		return out
	}
	steps := " steps"
	if of.Horizon == 1 {
		steps = " step"
	}
	text := format.Count(of.Begun) + t.Dim.On(" of ") + format.Count(of.Horizon) + t.Dim.On(steps)
	ends := text + t.Dim.On(", ") + format.Count(of.Ended) + t.Dim.On(" ended")
	dropped := t.Dim.On(", ") + format.Count(of.Dropped) + t.Dim.On(" rows dropped")
	lines := []string{text, ends, ends + dropped}
	if of.Dropped > 0 { // the more important number
		dropped = ", " + t.Warn.On(format.Count(of.Dropped)+" rows dropped")
		lines = []string{text, text + dropped, ends + dropped}
	}
	out = append(out, label("rollouts")+theme.Longest(lines, w-11))
	return append(out, p.foreseen(w, label)...)
}

// foreseen is the error of the model of the dynamics when it is rolled out along real actions.
func (p *Pane) foreseen(w int, label func(string) string) []string {
	t, of := p.Theme, p.History.OpenLoop
	if of == nil || len(of.Horizon) == 0 {
		return nil
	}
	last := len(of.Horizon) - 1
	text := format.Number(float64(of.Error[0])) + t.Dim.On(" after 1 step, ") + format.Number(float64(of.Error[last])) + t.Dim.On(" after "+format.Count(of.Horizon[last]))
	held := t.Dim.On("; the state held ") + format.Number(float64(of.Held[0])) + t.Dim.On(", ") + format.Number(float64(of.Held[last]))
	return []string{label("foresees") + theme.Longest([]string{text, text + held}, w-11)}
}

// members are the errors of the networks of an ensemble, each with a mark that says whether it is an
// elite; with little room only the least and the largest error.
func (p *Pane) members(of *event.Ensemble, w int) string {
	t, all := p.Theme, ""
	for i, e := range of.HeldOut {
		mark, style := t.Glyphs.Ring, t.Dim
		if slices.Contains(of.Elites, i) {
			mark, style = t.Glyphs.Dot, t.Synthetic
		}
		if i > 0 {
			all += " "
		}
		all += style.On(mark + format.Number(float64(e)))
	}
	least, most := slices.Min(of.HeldOut), slices.Max(of.HeldOut)
	return theme.Longest([]string{format.Number(float64(least)) + t.Dim.On(" to ") + format.Number(float64(most)), all}, w)
}

// generatedLines describe the newest D_syn by its measurements.
func (p *Pane) generatedLines(w int, label func(string) string) []string {
	t, g := p.Theme, p.History.Generated
	if g == nil {
		return nil
	}
	var out []string
	if v := history.Worth(g); v != "" {
		out = append(out, v)
	}
	if d := g.Dynamics; d != nil {
		line := label("dynamics") + format.Number(float64(d.Relative)) + t.Dim.On(" error of s'")
		if c := p.History.Main(history.CurveDynamics); c != nil && len(c.Samples) > 1 {
			var past []float64
			for _, s := range c.Samples {
				past = append(past, s.Y)
			}
			if room := w - theme.Width(line) - 2; room > 4 {
				line += "  " + t.Synthetic.On(t.Trend(past, min(room, 30)))
			}
		}
		out = append(out, line)
	}
	states := " of s, s'  "
	if g.Furthest > 0 {
		states = fmt.Sprintf(" of s, s', furthest %.2gσ  ", float64(g.Furthest))
	}
	out = append(out, label("outside")+format.Percent(float64(g.OutsideStates))+t.Dim.On(states)+
		format.Percent(float64(g.OutsideActions))+t.Dim.On(" of a  ")+format.Percent(float64(g.OutsideRewards))+t.Dim.On(" of r"))
	out = append(out, label("nearest")+format.Number(float64(g.Nearest))+t.Dim.On(" to a real row; real rows ")+format.Number(float64(g.NearestReal)))
	if g.RewardedReal != nil {
		out = append(out, label("rewarded")+format.Number(history.Optional(g.Rewarded))+t.Dim.On(" of the rows; real rows ")+format.Number(history.Optional(g.RewardedReal)))
	}
	return out
}

func (p *Pane) generatorNote(w int) string {
	n := 0
	for _, r := range p.History.Refits {
		if r.Steps > 0 {
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
	return theme.Longest([]string{p.Theme.Dim.On(note)}, w)
}

// lastOf is the last of the values; NaN if there is none.
func lastOf(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return values[len(values)-1]
}
