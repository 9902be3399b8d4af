package fans

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

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
	c := ChildRun{Child: pane.Child{To: 10}}.Look(func(string) ([]event.Event, error) { return events, nil }, time.Time{})
	if r := c.evaluations(); len(r) != 1 || r[0] != 100 {
		t.Errorf("%v, want 100 at 10", c.evaluations())
	}
}

// In a replay a child is as it was at the time that the replay has come to, also after it was wound back; its
// journal is read once.
func TestAChildInAReplay(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(1_000+second), 0) }
	events := []event.Event{
		{Step: 5, Wall: at(1), Body: event.Evaluated{ReturnMean: 7}}, // the parent's
		{Step: 10, Wall: at(10), Body: event.Evaluated{ReturnMean: 100}},
		{Step: 15, Wall: at(20), Body: event.Evaluated{ReturnMean: 50}},
		{Step: 15, Wall: at(20), Body: event.Done{Steps: 15}},
	}
	reads := 0
	load := func(string) ([]event.Event, error) {
		reads++
		return events, nil
	}
	c := ChildRun{Child: pane.Child{From: 5, To: 15}}
	for _, moment := range []struct {
		second int
		mean   []float64
		step   int
		done   bool
	}{{5, nil, 5, false}, {10, []float64{100}, 10, false}, {30, []float64{100, 50}, 15, true}, {12, []float64{100}, 10, false}} {
		c = c.Look(load, at(moment.second))
		if got := c.evaluations(); !slices.Equal(got, moment.mean) || c.step != moment.step || c.done != moment.done {
			t.Errorf("after %d s: %v at %d, done %v", moment.second, got, c.step, c.done)
		}
	}
	if reads != 1 {
		t.Errorf("its journal was read %d times", reads)
	}
}

// A child's journal is read when it has grown.
func TestAChildIsReadWhenItsJournalGrows(t *testing.T) {
	dir, reads := t.TempDir(), 0
	load := func(string) ([]event.Event, error) {
		reads++
		return []event.Event{{Step: 10 * reads, Member: event.NoMember, Body: event.Evaluated{ReturnMean: 1}}}, nil
	}
	c := ChildRun{Child: pane.Child{Dir: dir, To: 99}}
	for i, text := range []string{"a line", "a line", "a line, and one more"} {
		if err := os.WriteFile(filepath.Join(dir, run.JournalName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		c = c.Look(load, time.Time{})
		if want := []int{1, 1, 2}[i]; reads != want || c.step != 10*want {
			t.Errorf("after %q it was read %d times and is at step %d", text, reads, c.step)
		}
	}
}
