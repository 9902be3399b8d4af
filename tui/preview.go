package tui

import (
	"fmt"
	"math"

	"pgrlab/core/lab"
)

// previewable are the knobs of which the lab can say what they would make of
// generated transitions.
var previewable = []string{"guidance", "top_fraction", "sampler_steps", "s_churn", "relevance"}

// preview is what was asked of the lab about a staged value, and its answer.
type preview struct {
	id     string // of the newest question; "": none
	knob   string
	value  lab.Value
	answer *lab.Previewed // nil: not answered yet
}

// askPreview asks what a staged value would make; nothing is touched by it.
func (m *Model) askPreview(k lab.Knob, v lab.Value) {
	m.preview = preview{}
	m.history.touch(paneScores)
	if !contains(previewable, k.Name) || !m.generated() || m.lab == nil || m.ended() {
		return
	}
	m.sent++
	p := preview{id: fmt.Sprintf("preview-%d-%d", m.session, m.sent), knob: k.Name, value: v}
	if m.lab.Send(lab.Preview{ID: p.id, Knob: k.Name, Value: v.String()}) == nil {
		m.preview = p // a busy lab is asked again with the next value
	}
}

// takePreview keeps the answer to the newest question.
func (m *Model) takePreview(b lab.Previewed) {
	if b.ID != "" && b.ID == m.preview.id {
		m.preview.answer = &b
		m.history.touch(paneScores, paneKnobs)
	}
}

// previewed is the answer that belongs to what is staged; nil where there is none.
func (m *Model) previewed() *lab.Previewed {
	p := m.preview
	if v, ok := m.staged[p.knob]; !ok || v != p.value || p.answer == nil || p.answer.Err != "" || p.answer.Preview == nil {
		return nil
	}
	return p.answer
}

// previewText says what the preview of the staged value found, or that it is under
// way; "" without one.
func (m *Model) previewText() string {
	p := m.preview
	if v, ok := m.staged[p.knob]; !ok || v != p.value {
		return ""
	}
	a := p.answer
	switch {
	case a == nil:
		return "preview under way" + m.theme.glyphs.wait
	case a.Err != "":
		return "no preview: " + a.Err
	}
	text := fmt.Sprintf("preview: %d samples in %.1f s", a.Samples, a.Seconds)
	if !math.IsNaN(a.Outside) {
		text += fmt.Sprintf(", %s outside the real range", percent(a.Outside))
	}
	if !math.IsNaN(a.RankCorrelation) {
		text += fmt.Sprintf("; new F against old: rank correlation %.2f, top share the same %s", a.RankCorrelation, percent(a.TopOverlap))
	}
	if a.Cost != "" {
		text += "; " + a.Cost
	}
	return text
}

// histogramRow is one distribution of F with its name and colour.
type histogramRow struct {
	name, letter string
	data         *lab.Histogram
	colour       ink
}

// distributions are those of F to show: real, what the prompts asked for and what
// came of them, and what a preview would make, all over the same edges.
func (m *Model) distributions() []histogramRow {
	t, s := m.theme, m.snap
	realF, syn, asked := s.FReal, s.FSyn, s.FAsked
	p := m.previewed()
	if p != nil {
		if p.Real != nil {
			realF = p.Real
		}
		if p.Synthetic != nil {
			syn = p.Synthetic
		}
		asked = nil // over other edges
	}
	var out []histogramRow
	add := func(name, letter string, h *lab.Histogram, colour ink) {
		if h != nil {
			out = append(out, histogramRow{name, letter, h, colour})
		}
	}
	add("real", "r", realF, t.real)
	add("asked", "a", asked, t.reference)
	add("D_syn", "s", syn, t.synthetic)
	if p != nil {
		add("prev.", "p", p.Preview, t.staged)
	}
	return out
}
