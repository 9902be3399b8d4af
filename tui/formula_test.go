package tui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/tui/pane"
)

// typeText types letters.
func typeText(s *screen, text string) {
	for _, r := range text {
		s.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
}

// A formula is typed on the knob, completed and corrected there, previewed with its terms, and edited again.
func TestAFormulaIsTypedOnTheKnob(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.GoTo(pane.Knobs)
	for s.knobs.Selected > 0 {
		s.press("up")
	}
	s.press("e")
	typeText(s, "0.7*rank(tdd) + 0.3*rank(cur")
	s.contains(t, "0.7*rank(tdd) + 0.3*rank(cur", "curiosity", "error of a learned model of the dynamics")
	s.press("tab")
	typeText(s, ")")
	s.press("enter")
	s.contains(t, `no quantity "tdd" (did you mean td?) (column 10)`)
	if s.entry == nil || s.entry.Input.Position() != len("0.7*rank(") {
		t.Fatalf("the cursor is not at the place: %+v", s.entry)
	}
	s.press("right", "right", "right", "backspace", "enter")
	const want = "=0.7 * rank(td) + 0.3 * rank(curiosity)"
	if p, ok := s.lastCommand().(event.Preview); !ok || p.Value != want {
		t.Fatalf("sent %#v:\n%s", s.lastCommand(), s.View())
	}
	s.contains(t, "prev.", "0.7 * rank(td)", "0.3 * rank(curiosity)")
	if n := strings.Count(s.View(), "term  "); n != 2 {
		t.Errorf("%d terms have histograms", n)
	}
	s.resize(80, 24)
	s.contains(t, "=0.7 * rank(td)")
	s.resize(160, 45)
	s.press("e")
	if s.entry == nil || s.entry.Text() != strings.TrimPrefix(want, "=") {
		t.Fatalf("e edits %+v", s.entry)
	}
	s.press("esc")
}

// After an evaluation the pane of F has the quantiles of a formula's terms.
func TestTermsOfAFormulaAreShown(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	const formula = "=td + 0.1 * count"
	s.typeLine("relevance = td + 0.1*count")
	s.press("enter")
	s.fake.emit(event.TypeRefit, event.Refit{F: &event.RefitF{Of: formula, Real: fakeHistogram(0.3, 0.1)}})
	s.fake.emit(event.TypeScores, event.Scores{Relevance: formula, Quantiles: run.Floats([]float64{1, 2, 3}),
		Terms: []event.Term{{Term: "td", Quantiles: run.Floats([]float64{0.5, 0.75, 2.25})}, {Term: "0.1 * count", Quantiles: run.Floats([]float64{0.1, 0.2, 0.3})}}})
	s.poll()
	s.contains(t, "med 0.750 p90 2.25  td", "0.1 * count")
}
