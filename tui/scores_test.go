package tui

import "testing"

// If only real transitions have an F, the pane says why: there are no synthetic ones, or F is
// computed from frames.
func TestFWithoutThatOfSyntheticRows(t *testing.T) {
	for rows, want := range map[int]string{0: "no synthetic rows yet", 5_000: "F is of what was seen: synthetic rows have none"} {
		s := running(t, 160, 45, 24_000)
		alone := *s.fake.snapshot
		alone.FSyn, alone.FAsked, alone.Synthetic = nil, nil, rows
		s.fake.snapshot = &alone
		s.Update(polled{})
		s.contains(t, want)
	}
}
