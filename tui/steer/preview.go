package steer

import (
	"fmt"
	"math"
	"strings"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/format"
	"pgrlab/tui/topic"
)

// preview is a question to the lab about a staged value, and its answer.
type preview struct {
	id     string // of the newest question; "": none
	knob   string
	value  knob.Value
	asked  time.Time
	Answer *event.Previewed // nil: not answered yet
	Step   int              // step of the answer
	old    bool             // the generator was fitted or D_syn made since the question
}

// PreviewEvery is the shortest time between two previews of the same value, even if refits follow
// each other faster.
const PreviewEvery = 2 * time.Second

// askPreview asks what a staged value would give; this changes nothing in the run.
func (s *Steering) askPreview(k knob.Knob, v knob.Value) {
	s.Preview = preview{}
	s.Touch(topic.Staged)
	if k.Previewable {
		s.Preview = preview{knob: k.Name, value: v, old: true}
		s.RenewPreview()
	}
}

// RenewPreview asks again if a refit or a generation has made the answer old, or if the lab was too
// busy to take the question or to answer. The old answer stays until there is a new one.
func (s *Steering) RenewPreview() {
	p := &s.Preview
	if v, ok := s.Staged[p.knob]; !ok || v != p.value || !p.old || s.Lab == nil || s.Snap == nil || s.Ended() || s.Watching() || s.Now().Sub(p.asked) < PreviewEvery {
		return
	}
	s.sent++
	id := fmt.Sprintf("preview-%d-%d", s.Session, s.sent)
	if s.Lab.Send(event.Preview{ID: id, Knob: p.knob, Value: p.value.String()}) == nil {
		p.id, p.asked, p.old = id, s.Now(), false
	}
}

// Event handles what concerns the preview: an answer, or a reason to ask again.
func (s *Steering) Event(e event.Event) {
	switch b := e.Body.(type) {
	case event.Previewed:
		if b.ID != "" && b.ID == s.Preview.id && b.Busy {
			s.Preview.old = true
		} else if b.ID != "" && b.ID == s.Preview.id {
			s.Preview.Answer, s.Preview.Step = &b, e.Step
			s.Touch(topic.Staged)
		}
	case event.Refit:
		s.Preview.old = true
	}
}

// Answered is what the lab has said about the currently staged value, if only why it has no
// preview; nil: nothing yet.
func (s *Steering) Answered() *event.Previewed {
	p := s.Preview
	if v, ok := s.Staged[p.knob]; !ok || v != p.value {
		return nil
	}
	return p.Answer
}

// Previewed is the answer for the currently staged value; nil: there is none.
func (s *Steering) Previewed() *event.Previewed {
	a := s.Answered()
	if a == nil || a.Err != "" || a.Real == nil {
		return nil
	}
	return a
}

// PreviewText says what the preview of the staged value found, or that it is under way; "" without
// a preview.
func (s *Steering) PreviewText() string {
	p := s.Preview
	if v, ok := s.Staged[p.knob]; !ok || v != p.value {
		return ""
	}
	a := p.Answer
	switch {
	case a == nil && s.Driver != "":
		return "no preview: " + s.ErrNotDriving().Error()
	case a == nil:
		return "preview under way" + s.Theme.Glyphs.Wait
	case a.Err != "":
		return "no preview: " + a.Err
	}
	found := s.dosesText(a)
	if !math.IsNaN(a.RankCorrelation) {
		found = append(found, fmt.Sprintf("new F against old: rank correlation %.2f, top share the same %s", a.RankCorrelation, format.Percent(a.TopOverlap)))
	}
	if a.Cost != "" {
		found = append(found, a.Cost)
	}
	if a.Real == nil && len(a.Doses) == 0 { // there is no F yet
		return "no preview: " + a.Cost
	}
	return "preview: " + strings.Join(found, "; ")
}
