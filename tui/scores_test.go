package tui

import (
	"testing"

	"pgrlab/core/event"
)

// If only real transitions have an F, the pane says why: there are no synthetic ones, or F is
// computed from frames.
func TestFWithoutThatOfSyntheticRows(t *testing.T) {
	for rows, want := range map[int]string{0: "no synthetic rows yet", 5_000: "F is of what was seen: synthetic rows have none"} {
		s := running(t, 160, 45, 24_000)
		alone := *s.fake.snapshot
		alone.Synthetic = rows
		s.fake.snapshot = &alone
		s.fake.emit(event.TypeRefit, event.Refit{F: &event.RefitF{Real: fakeHistogram(0.25, 0.12)}})
		s.Update(polled{})
		s.contains(t, want)
	}
}
