package events

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/lipgloss"

	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// quiet is a screen that draws nothing.
type quiet struct{ pane.Screen }

func (quiet) Changed() {}

// The events in sight stay in place when others arrive; those that do not pass the filter do not
// count.
func TestScrolledEventsStayInPlace(t *testing.T) {
	p := &Pane{Run: &pane.Run{Screen: quiet{}, History: history.New(0, 0)}}
	arrive := func(n int, kind string) {
		for range n {
			p.History.Add(history.EventLine{Kind: kind})
		}
	}
	arrive(10, "note")
	arrive(10, "eval")
	p.Poll(true)
	p.setFilter("note")
	p.scrollEvents(2)
	for _, c := range []struct {
		kind string
		want int
	}{{"eval", 2}, {"note", 7}} {
		arrive(5, c.kind)
		if p.Poll(true); p.upBy != c.want {
			t.Errorf("after five of kind %s it is %d above the first one shown, want %d", c.kind, p.upBy, c.want)
		}
	}
}

// Events of another day have their date, and ten million steps fit into their column.
func TestEventsOfADayAndOfManySteps(t *testing.T) {
	now := time.Date(2026, 12, 1, 9, 30, 0, 0, time.UTC)
	about := &pane.About{}
	p := &Pane{Run: &pane.Run{Screen: quiet{}, History: history.New(0, 0), About: about, Now: func() time.Time { return now }, Theme: theme.New(lipgloss.NewRenderer(io.Discard), theme.Unicode)}}
	evening := history.EventLine{Wall: time.Date(2026, 11, 30, 18, 0, 5, 0, time.UTC), Step: 9_000_000, Kind: "note", Text: "x"}
	morning := history.EventLine{Wall: now, Step: 10_000_000, Kind: "note", Text: "x"}
	shows := func(l history.EventLine, w int, want string) {
		t.Helper()
		if got := strings.TrimRight(strings.Join(p.EventText(l, w, 5), "|"), " "); got != want {
			t.Errorf("%d steps in %d columns: %q, want %q", about.Config.Steps, w, got, want)
		}
	}
	about.Config.Steps = 10_000_000
	p.History.Add(morning)
	shows(morning, 80, "09:30:00 10,000,000  note    x")
	p.History.Lines = nil
	p.History.Add(evening)
	p.History.Add(morning)
	shows(evening, 80, "Nov 30 18:00  9,000,000  note    x")
	shows(morning, 80, "09:30:00     10,000,000  note    x")
	shows(evening, 40, "Nov 30   note    x")
	shows(morning, 40, "09:30:00 note    x")
	about.Config.Steps, evening.Step = 100_000, 90_000
	shows(evening, 80, "Nov 30 18:00   90,000  note    x")
}
