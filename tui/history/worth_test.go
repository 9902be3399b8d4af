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
	v := func(x float64) *run.Float {
		f := run.Float(x)
		return &f
	}
	for _, c := range []struct {
		g     event.Generated
		wants string
	}{
		{event.Generated{Coverage: v(0.1)}, ""},
		{event.Generated{Dynamics: &event.Dynamics{}}, ""}, // from an older build
		{event.Generated{Coverage: v(0.8), Dynamics: &event.Dynamics{RewardRelative: v(4.6), Change: v(1.7)}}, "reward labels are worse than a constant (error 4.6"},
		{event.Generated{Coverage: v(0.8), Dynamics: &event.Dynamics{RewardRelative: v(0.2), Change: v(1.7)}}, "next states are worse"},
		{event.Generated{Coverage: v(0.8), Dynamics: &event.Dynamics{RewardRelative: v(1.2), ConstantReward: v(9), Change: v(1.7), ConstantChange: v(5)}}, "labels beat a constant"},
		{event.Generated{Coverage: v(0.8), Dynamics: &event.Dynamics{RewardRelative: v(0.2), ConstantReward: v(0.1), Change: v(0.3)}}, "error 0.200, its 0.100"},
		{event.Generated{Coverage: v(0), Copies: v(1), Dynamics: &event.Dynamics{Change: v(0)}}, "100% of the rows are copies"},
		{event.Generated{Coverage: v(0.2), Copies: v(0.1), Dynamics: &event.Dynamics{Change: v(0)}}, "covers only 20%"},
		{event.Generated{Coverage: v(0.8), Dynamics: &event.Dynamics{RewardRelative: v(0.2), Change: v(0.3)}}, "labels beat a constant"},
		{event.Generated{Coverage: v(0.8), Dynamics: &event.Dynamics{RewardRelative: v(math.NaN()), Change: v(0.3)}}, "labels beat a constant: reward error -"},
	} {
		if got := Worth(&c.g); c.wants == "" && got != "" || !strings.Contains(got, c.wants) {
			t.Errorf("%+v: %q, want %q", c.g.Dynamics, got, c.wants)
		}
	}
}
