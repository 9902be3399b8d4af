package report

import (
	"maps"
	"slices"
)

// framesColumn holds the frame of the task at a step, for learners that see frames. Older
// files do not have the column.
const framesColumn = "frames"

// failedColumn says in the last row of a run why it failed; what begins with divergedMark is why its
// numbers diverged. A file has the column if one of its runs failed.
const (
	failedColumn = "failed"
	divergedMark = "diverged: "
)

// resultColumns come before the quantities.
var resultColumns = []string{"task", "method", "scale", "variant", "settings", "seed", "steps", "device", "version", "step", "wall_s"}

// resultQuantities are the quantities that every results file keeps.
var resultQuantities = []string{
	Return, "evaluated/return_std", "evaluated/episodes", dormantRatio, "q_bias/bias",
	"scores/mean", "scores/q50", "scores/q90",
	"generated/dynamics/change", "generated/dynamics/reward_relative", "generated/coverage", "generated/copies",
}

// furtherQuantities are kept if one of the runs has them, each where it stands: a file keeps its
// columns until a run with others is added.
var furtherQuantities = []string{
	"dormant/ratio_drm",
	"evaluated/explored/goals", "evaluated/explored/cells", "evaluated/explored/moved", "evaluated/explored/on_spot",
	"losses/bonus", "losses/episodes/entries", "losses/episodes/p90", "losses/episodes/accuracy",
	"generated/dynamics/relative", "generated/dynamics/relevant", "generated/dynamics/combined", "generated/furthest", "generated/rewarded", "generated/rewarded_real", "scores/q10",
}

// pixelQuantities are kept if one of the runs learns from frames and has them: files of other runs,
// which have some of them too, keep their columns.
var pixelQuantities = []string{
	"latents/drift", "latents/size", "losses/q_mean", "losses/critic", "generated/nearest", "generated/obeyed",
}

// quantitiesOf returns the quantities that a file of these runs keeps: those that are known here,
// and then those of the results that were there, which another version may have added.
func quantitiesOf(there, added []*Run) []string {
	kept, has := slices.Clone(resultQuantities), map[string]bool{}
	for _, r := range there {
		for name := range r.Members[0].Series {
			has[name] = true
		}
	}
	others := slices.Sorted(maps.Keys(has))
	for _, name := range slices.Concat(furtherQuantities, pixelQuantities) {
		if has[name] || slices.ContainsFunc(added, func(r *Run) bool { return r.keeps(name) }) {
			kept = append(kept, name)
		}
	}
	return append(kept, slices.DeleteFunc(others, func(name string) bool { return slices.Contains(kept, name) })...)
}

// keeps says whether a run, of one seed, has a quantity for which a file gets a column.
func (r *Run) keeps(name string) bool {
	return len(r.Members[0].Series[name]) > 0 && (r.Frames > 0 || !slices.Contains(pixelQuantities, name))
}
