package relevance

import "testing"

// In a trial rounds come after a multiple of the learner's env steps, with a history in which
// observations are distant and of some batches; a history that is short enough stays.
func TestRoundsOfATrial(t *testing.T) {
	c := DefaultECO()
	for _, copies := range []int{1, 12, 128} {
		got := c.Trial(copies, 16).(ECOConfig)
		if n := got.FirstRound(copies); n%16 != 0 || got.History < 4*c.Batch || got.History >= c.History || got.ValidateCopies(copies) != nil {
			t.Errorf("%d copies: a history of %d, %d env steps", copies, got.History, n)
		}
	}
	if c.History = 300; c.Trial(3, 7).(ECOConfig).History != 300 {
		t.Error("a short history became longer")
	}
}

// The network learns in the rounds of a trial, about as much for a transition as in those of a run.
func TestRoundsOfATrialLearn(t *testing.T) {
	c := smallECO()
	c.Near, c.Far, c.Batch, c.History = 5, 25, 64, 30_000
	updates := func(c ECOConfig) float64 {
		m, s := newECO(t, c, 3), &strolls{copies: 3, length: 1000}
		for f := make([]float32, 3); !m.RoundDue(); {
			met(t, m, f, s.next())
		}
		return float64(m.updates()) / float64(c.History)
	}
	run, trial := updates(c), updates(c.Trial(3, 16).(ECOConfig))
	if trial < 0.75*run || trial > 1.25*run {
		t.Errorf("%g updates a transition in a trial, %g in a run", trial, run)
	}
}

// Memories that were filled for a trial are compared whole from the next env step on.
func TestFilledMemories(t *testing.T) {
	c := smallECO()
	m, s := newECO(t, c, 3), &strolls{copies: 3, length: 50}
	for !m.Learned() {
		meet(t, m, s, 1)
	}
	meet(t, m, s, 1)
	if got := m.Familiarity().Entries; got >= float64(c.Entries) {
		t.Fatalf("%g of %d entries before", got, c.Entries)
	}
	m.Fill()
	meet(t, m, s, 1)
	if got := m.Familiarity().Entries; got != float64(c.Entries) {
		t.Errorf("%g entries, want %d", got, c.Entries)
	}
}
