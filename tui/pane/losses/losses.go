// Package losses shows the newest losses of all networks, with their history.
package losses

import (
	"math"
	"strings"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/format"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// Pane is the newest losses and their history.
type Pane struct {
	*pane.Run
}

// New makes the pane of a run.
func New(r *pane.Run) *Pane { return &Pane{Run: r} }

// ID names the pane.
func (x *Pane) ID() pane.ID { return pane.Losses }

// Tab is the name of the pane on the tab bar.
func (x *Pane) Tab() string { return "last losses" }

// Title is the text in the border of the pane.
func (x *Pane) Title(w int) (title, note string) { return "LOSSES", x.lossesNote(w - 14) }

// Keys are those that work while the pane is in focus.
func (x *Pane) Keys() []pane.Binding { return nil }

// DependsOn are the topics that the pane shows.
func (x *Pane) DependsOn() []topic.Topic { return []topic.Topic{topic.Snapshot, topic.Losses} }

// Body is the newest loss of each part, with its values at the evaluations so far.
func (x *Pane) Body(w, h int) []string {
	t := x.Theme
	parts := x.losses()
	perLine := max(1, min((len(parts)+max(1, h)-1)/max(1, h), w/14))
	cell := w / perLine
	var out []string
	var line strings.Builder
	for i, p := range parts {
		text := t.Dim.On(p.name+" ") + format.Number(p.now)
		if perLine == 1 && w >= 30 { // one column for each
			text = t.Dim.On(t.Fit(p.name, 10)) + t.Fit(format.Number(p.now), 7)
		}
		if room := min(24, cell-theme.Width(text)-2); room >= 3 {
			text += " " + t.Accent.On(t.Trend(p.past, room))
		}
		line.WriteString(t.Fit(text, cell))
		if (i+1)%perLine == 0 || i == len(parts)-1 {
			out = append(out, line.String())
			line.Reset()
		}
	}
	return out
}

// lossPart is one loss: of the last update, and at the evaluations so far.
type lossPart struct {
	name string
	now  float64
	past []float64
}

// models are the relevance functions that learn: what their losses are called, and their curves.
var models = map[string]struct {
	name  string
	curve history.CurveName
}{
	"curiosity": {"ICM", history.CurveCuriosity},
	"rnd":       {"RND", history.CurveRND},
	"eco":       {"R-network", history.CurveReach},
}

func (x *Pane) losses() []lossPart {
	nan := math.NaN()
	now := event.UpdateLosses{Critic: nan, Actor: nan, Alpha: nan, QMean: nan, Model: nan}
	if l := x.Snap.Losses; l != nil {
		now = *l
	}
	model, named := models[now.Function]
	if !named {
		model = models["curiosity"]
	}
	parts := []lossPart{{"critic", now.Critic, nil}, {"actor", now.Actor, nil}, {"α", now.Alpha, nil},
		{"Q mean", now.QMean, nil}, {model.name, now.Model, nil}}
	third := history.CurveAlpha
	if now.Noise > 0 { // such a learner has no α
		parts[2], third = lossPart{"noise", now.Noise, nil}, history.CurveNoise
	}
	for i, name := range [...]history.CurveName{history.CurveCritic, history.CurveActor, third, history.CurveQMean, model.curve} {
		parts[i].past = x.past(name)
	}
	generator := lossPart{"generator", nan, nil}
	for _, r := range x.History.Refits {
		if r.Steps > 0 {
			generator.past = append(generator.past, r.Loss)
			generator.now = r.Loss
		}
	}
	if x.Phase() == knob.Fit {
		generator.now = x.Snap.FitLoss
	}
	return append(append(parts, generator), x.explorer(now.Explorer)...)
}

// explorer are the losses of an agent that explores, if there is one.
func (x *Pane) explorer(now *event.ExplorerUpdate) []lossPart {
	if now == nil {
		return nil
	}
	parts := []lossPart{{"X critic", now.Critic, nil}, {"X actor", now.Actor, nil}, {"X α", now.Alpha, nil}, {"X Q mean", now.QMean, nil}}
	for i, name := range []history.CurveName{history.CurveOtherCritic, history.CurveOtherActor, history.CurveOtherAlpha, history.CurveOtherQ} {
		parts[i].past = x.past(name)
	}
	return parts
}

// past are the values of a curve at the evaluations so far.
func (x *Pane) past(name history.CurveName) (all []float64) {
	if c := x.History.Main(name); c != nil {
		for _, v := range c.Samples {
			all = append(all, v.Y)
		}
	}
	return all
}

func (x *Pane) lossesNote(w int) string {
	notes := []string{x.Theme.Dim.On("curves: at the evaluations")}
	if l := x.Snap.Losses; l != nil && l.Explorer != nil {
		notes = append([]string{x.Theme.Dim.On("curves: at the evaluations; X: explorer")}, x.Theme.Dim.On("X: explorer"))
	}
	return theme.Longest(notes, w)
}
