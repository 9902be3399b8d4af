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
