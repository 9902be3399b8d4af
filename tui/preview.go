package tui

import (
	"fmt"
	"math"
	"strings"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
)

// preview is what was asked of the lab about a staged value, and its answer.
type preview struct {
	id     string // of the newest question; "": none
	knob   string
	value  knob.Value
	asked  time.Time
	answer *event.Previewed // nil: not answered yet
	step   int              // of the answer
	old    bool             // the generator has been fitted or D_syn made since it was asked
}

// previewEvery is the least time between two looks at the same value, where refits
// follow each other faster.
const previewEvery = 2 * time.Second

// askPreview asks what a staged value would make; nothing is touched by it.
func (m *steering) askPreview(k knob.Knob, v knob.Value) {
	m.preview = preview{}
	m.touch(topicStaged)
	if k.Previewable {
		m.preview = preview{knob: k.Name, value: v, old: true}
		m.renewPreview()
	}
}

// renewPreview asks again where a refit or a generation has made the answer old, which
// stays until there is a new one; also where the lab was too busy to be asked or to answer.
func (m *steering) renewPreview() {
	p := &m.preview
	if v, ok := m.staged[p.knob]; !ok || v != p.value || !p.old || m.lab == nil || m.snap == nil || m.ended() || m.now().Sub(p.asked) < previewEvery {
		return
	}
	m.sent++
	id := fmt.Sprintf("preview-%d-%d", m.session, m.sent)
	if m.lab.Send(event.Preview{ID: id, Knob: p.knob, Value: p.value.String()}) == nil {
		p.id, p.asked, p.old = id, m.now(), false
	}
}

// Event takes what an event is to the preview: an answer, or a reason to ask again.
func (m *steering) Event(e event.Event) {
	switch b := e.Body.(type) {
	case event.Previewed:
		if b.ID != "" && b.ID == m.preview.id && b.Busy {
			m.preview.old = true
		} else if b.ID != "" && b.ID == m.preview.id {
			m.preview.answer, m.preview.step = &b, e.Step
			m.touch(topicStaged)
		}
	case event.Refit:
		m.preview.old = true
	}
}

// previewed is the answer that belongs to what is staged; nil where there is none.
func (m *steering) previewed() *event.Previewed {
	p := m.preview
	if v, ok := m.staged[p.knob]; !ok || v != p.value || p.answer == nil || p.answer.Err != "" || p.answer.Real == nil {
		return nil
	}
	return p.answer
}

// previewText says what the preview of the staged value found, or that it is under
// way; "" without one.
func (m *steering) previewText() string {
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
	var found []string
	if a.Samples > 0 {
		text := fmt.Sprintf("%d samples", a.Samples)
		if a.Seconds >= 0.1 {
			text += fmt.Sprintf(" in %.1f s", a.Seconds)
		}
		if !math.IsNaN(a.Outside) {
			text += fmt.Sprintf(", %s outside the real range", percent(a.Outside))
		}
		found = append(found, text)
	}
	if !math.IsNaN(a.RankCorrelation) {
		found = append(found, fmt.Sprintf("new F against old: rank correlation %.2f, top share the same %s", a.RankCorrelation, percent(a.TopOverlap)))
	}
	if a.Cost != "" {
		found = append(found, a.Cost)
	}
	if a.Real == nil { // there is no F to show yet
		return "no preview: " + a.Cost
	}
	return "preview: " + strings.Join(found, "; ")
}
