package events

import (
	"testing"

	"pgrlab/tui/history"
	"pgrlab/tui/pane"
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
