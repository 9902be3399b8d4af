package fans

import (
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/tui/pane"
)

// The return of a child with several seeds is their mean.
func TestAChildOfSeveralSeeds(t *testing.T) {
	var events []event.Event
	for member, r := range []run.Float{100, 200, 0} {
		events = append(events, event.Event{Step: 10, Member: member, Body: event.Evaluated{ReturnMean: r}})
	}
	c := ChildRun{Child: pane.Child{To: 10}}.Look(func(string) ([]event.Event, error) { return events, nil })
	if r := c.evaluations(); len(r) != 1 || r[0] != 100 {
		t.Errorf("%v, want 100 at 10", c.evaluations())
	}
}
