package history

import (
	"math"

	"pgrlab/core/event"
	"pgrlab/tui/format"
)

// littleCovered is the share of real rows below which D_syn counts as leaving out much; our choice.
const littleCovered = 0.3

// Worth says in one clause whether D_syn is better than nothing: whether its labels beat the best
// constant, and whether it is more than a part, or a copy, of the data. The worst finding comes
// first. Worth is empty if these were not measured, because the task cannot be set to a state.
func Worth(g *event.Generated) string {
	d := g.Dynamics
	if d == nil {
		return ""
	}
	reward, change := float64(d.RewardRelative), float64(d.Change)
	copies, coverage := float64(g.Copies), float64(g.Coverage)
	switch constantReward, constantChange := float64(d.ConstantReward), float64(d.ConstantChange); {
	case reward > constantReward:
		return "reward labels are worse than a constant (error " + format.Number(reward) + ", its " + format.Number(constantReward) + ")"
	case change > constantChange:
		return "next states are worse than a constant change (error " + format.Number(change) + ", its " + format.Number(constantChange) + ")"
	case copies > 0.5:
		return format.Percent(copies) + " of the rows are copies of real ones"
	case coverage < littleCovered:
		return "D_syn covers only " + format.Percent(coverage) + " of the real rows"
	case math.IsNaN(change):
		return ""
	}
	return "labels beat a constant: reward error " + format.Number(reward) + ", change " + format.Number(change)
}

// measureGenerated records the measurements of a new D_syn for the charts.
func (h *History) measureGenerated(member, step int, wall float64, g *event.Generated) {
	h.measure(CurveCoverage, member, step, wall, float64(g.Coverage))
	h.measure(CurveCopies, member, step, wall, float64(g.Copies))
	h.measure(CurveRewarded, member, step, wall, Optional(g.Rewarded))
	h.measure(CurveRewardedReal, member, step, wall, Optional(g.RewardedReal))
	d := g.Dynamics
	if d == nil {
		return
	}
	h.measure(CurveDynamics, member, step, wall, float64(d.Relative))
	h.measure(CurveChange, member, step, wall, float64(d.Change))
	h.measure(CurveReward, member, step, wall, float64(d.RewardRelative))
	h.measure(CurveRelevant, member, step, wall, Optional(d.Relevant))
}
