package ppo

import "testing"

// In a trial the steps of the optimizer have as many rows, and there are as many per env step; a
// rollout that cannot be divided stays as it is.
func TestTrialCostsAsMuch(t *testing.T) {
	for _, s := range []Settings{{Steps: 256, Epochs: 4, Minibatches: 4, AlignRows: 1024}, {Steps: 128, Epochs: 3, Minibatches: 32, AlignRows: 64}, {Steps: 6, Epochs: 2, Minibatches: 4, AlignRows: 1}, {Steps: 7, Epochs: 1, Minibatches: 3, AlignRows: 9}} {
		u := s.trial()
		c, d := Config{Settings: s, Copies: 12}, Config{Settings: u, Copies: 12}
		if c.part() != d.part() || u.Steps > s.Steps || u.Epochs*u.Minibatches*s.Steps != s.Epochs*s.Minibatches*u.Steps || u.AlignRows < 1 || u.AlignRows > s.AlignRows {
			t.Errorf("%+v becomes %+v", s, u)
		}
	}
	if got := DefaultSettings.trial(); got.Steps != 64 || got.Minibatches != 1 || got.AlignRows != 256 {
		t.Errorf("the defaults become %+v", got)
	}
}
