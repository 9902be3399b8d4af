package tui

import (
	"math"

	"pgrlab/core/event"
	"pgrlab/core/run"
)

// littleCovered is the share of real rows below which D_syn is said to leave out much;
// our choice.
const littleCovered = 0.3

// worth says in one clause whether D_syn is better than nothing: whether its labels
// beat the best constant, and whether it is more than a part, or a copy, of the data.
// The worst comes first. It is empty where that was not measured: the task
// cannot be set to a state, or the journal is older.
func worth(g *event.Generated) string {
	d := g.Dynamics
	if d == nil {
		return ""
	}
	reward, change := optional(d.RewardRelative), optional(d.Change)
	copies, coverage := optional(g.Copies), optional(g.Coverage)
	switch constantReward, constantChange := orOne(d.ConstantReward), orOne(d.ConstantChange); {
	case reward > constantReward:
		return "reward labels are worse than a constant (error " + number(reward) + ", its " + number(constantReward) + "): r is hurting"
	case change > constantChange:
		return "next states are worse than a constant change (error " + number(change) + ", its " + number(constantChange) + ")"
	case copies > 0.5:
		return percent(copies) + " of the rows are copies of real ones"
	case coverage < littleCovered:
		return "D_syn covers only " + percent(coverage) + " of the real rows"
	case math.IsNaN(change):
		return ""
	}
	return "labels beat a constant: reward error " + number(reward) + ", change " + number(change)
}

// orOne is what the constant guess scores on rows like the real ones, where that on
// these rows is not known.
func orOne(v *run.Float) float64 {
	if v == nil {
		return 1
	}
	return float64(*v)
}

// measureGenerated keeps what was measured of a new D_syn for the charts.
func (h *history) measureGenerated(step int, wall float64, g *event.Generated) {
	h.measure(curveCoverage, 0, step, wall, optional(g.Coverage))
	h.measure(curveCopies, 0, step, wall, optional(g.Copies))
	d := g.Dynamics
	if d == nil {
		return
	}
	h.measure(curveDynamics, 0, step, wall, float64(d.Relative))
	h.measure(curveChange, 0, step, wall, optional(d.Change))
	h.measure(curveReward, 0, step, wall, optional(d.RewardRelative))
	h.measure(curveRelevant, 0, step, wall, optional(d.Relevant))
}
