package tui

import (
	"math"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"strings"
)

// lossesPane is the newest losses and their course.
type lossesPane struct {
	*runView
}

func newLosses(r *runView) *lossesPane { return &lossesPane{runView: r} }

// ID names the pane.
func (m *lossesPane) ID() paneID { return paneLosses }

// Tab is its name on the tab bar.
func (m *lossesPane) Tab() string { return "last losses" }

// Title is what its border says.
func (m *lossesPane) Title(w int) (title, note string) { return "LOSSES", m.lossesNote(w - 14) }

// Keys work while it is in focus.
func (m *lossesPane) Keys() []binding { return nil }

// DependsOn are the topics that it shows.
func (m *lossesPane) DependsOn() []topic { return []topic{topicSnapshot, topicLosses} }

// Body is the newest loss of each part with its past at the evaluations.
func (m *lossesPane) Body(w, h int) []string {
	t := m.theme
	parts := m.losses()
	perLine := max(1, min((len(parts)+max(1, h)-1)/max(1, h), w/14))
	cell := w / perLine
	var out []string
	var line strings.Builder
	for i, p := range parts {
		text := t.dim.on(p.name+" ") + number(p.now)
		if perLine == 1 && w >= 30 { // a column each
			text = t.dim.on(t.fit(p.name, 10)) + t.fit(number(p.now), 7)
		}
		if room := min(24, cell-width(text)-2); room >= 3 {
			text += " " + t.accent.on(t.trend(p.past, room))
		}
		line.WriteString(t.fit(text, cell))
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

func (m *lossesPane) losses() []lossPart {
	nan := math.NaN()
	now := event.UpdateLosses{Critic: nan, Actor: nan, Alpha: nan, QMean: nan, Curiosity: nan}
	if l := m.snap.Losses; l != nil {
		now = *l
	}
	parts := []lossPart{{"critic", now.Critic, nil}, {"actor", now.Actor, nil}, {"α", now.Alpha, nil},
		{"Q mean", now.QMean, nil}, {"ICM", now.Curiosity, nil}}
	for i, name := range [...]curveName{curveCritic, curveActor, curveAlpha, curveQMean, curveCuriosity} {
		if c := m.history.curve(name, 0); c != nil {
			for _, v := range c.samples {
				parts[i].past = append(parts[i].past, v.y)
			}
		}
	}
	generator := lossPart{"generator", nan, nil}
	for _, r := range m.history.refits {
		if r.steps > 0 {
			generator.past = append(generator.past, r.loss)
			generator.now = r.loss
		}
	}
	if m.phase() == knob.Fit {
		generator.now = m.snap.FitLoss
	}
	return append(parts, generator)
}

func (m *lossesPane) lossesNote(w int) string {
	return longest([]string{m.theme.dim.on("curves: at the evaluations")}, w)
}
