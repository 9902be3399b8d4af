package history

import (
	"math"
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/run"
)

// The worst measurement of D_syn is the one that is reported.
func TestWorthOfGeneratedData(t *testing.T) {
	nan := run.Float(math.NaN())
	for _, c := range []struct {
		g     event.Generated
		wants string
	}{
		{event.Generated{Coverage: 0.1}, ""},
		{event.Generated{Coverage: 0.8, Dynamics: &event.Dynamics{RewardRelative: 4.6, Change: 1.7, ConstantReward: 1, ConstantChange: 1}}, "reward labels are worse than a constant (error 4.6"},
		{event.Generated{Coverage: 0.8, Dynamics: &event.Dynamics{RewardRelative: 0.2, Change: 1.7, ConstantReward: 1, ConstantChange: 1}}, "next states are worse"},
		{event.Generated{Coverage: 0.8, Dynamics: &event.Dynamics{RewardRelative: 1.2, ConstantReward: 9, Change: 1.7, ConstantChange: 5}}, "labels beat a constant"},
		{event.Generated{Coverage: 0.8, Dynamics: &event.Dynamics{RewardRelative: 0.2, ConstantReward: 0.1, Change: 0.3, ConstantChange: 1}}, "error 0.200, its 0.100"},
		{event.Generated{Coverage: 0, Copies: 1, Dynamics: &event.Dynamics{Change: 0, ConstantReward: 1, ConstantChange: 1}}, "100% of the rows are copies"},
		{event.Generated{Coverage: 0.2, Copies: 0.1, Dynamics: &event.Dynamics{Change: 0, ConstantReward: 1, ConstantChange: 1}}, "covers only 20%"},
		{event.Generated{Coverage: 0.8, Dynamics: &event.Dynamics{RewardRelative: 0.2, Change: 0.3, ConstantReward: 1, ConstantChange: 1}}, "labels beat a constant"},
		{event.Generated{Coverage: 0.8, Dynamics: &event.Dynamics{RewardRelative: nan, Change: 0.3, ConstantReward: 1, ConstantChange: 1}}, "labels beat a constant: reward error -"},
	} {
		if got := Worth(&c.g); c.wants == "" && got != "" || !strings.Contains(got, c.wants) {
			t.Errorf("%+v: %q, want %q", c.g.Dynamics, got, c.wants)
		}
	}
}
