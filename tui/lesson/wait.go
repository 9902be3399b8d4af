package lesson

import (
	"fmt"

	"pgrlab/core/knob"
	"pgrlab/presets"
	"pgrlab/tui/history"
)

// happened counts the events that a lesson can wait for.
func (x *Lessons) happened() map[string]int {
	h := &x.History
	inForceNow := 0
	for _, c := range h.Changes {
		if c.State == history.InForce {
			inForceNow++
		}
	}
	previews := 0
	if x.Answered() != nil {
		previews = 1 // of the value that is staged now
	}
	return map[string]int{"evaluated": len(h.Dormant), "generated": h.Generations, "previewed": previews, "in_force": inForceNow, "forked": x.forks.Over(), "grounded": len(h.Grounds)}
}

// in is 1 if the run is in a phase, else 0. Scores may be there sooner than the screen looks: the fit
// that follows is then what there is to see of them.
func (x *Lessons) in(p knob.Phase) int {
	now := x.Phase()
	if now == p || p == knob.Score && now == knob.Fit {
		return 1
	}
	return 0
}

// recording is a replay that can go to a phase.
type recording interface {
	// Reach goes to the middle of the next time in a phase; false: the replay has none.
	Reach(p knob.Phase) bool
}

// reach makes a replay go to the phase that a step waits for, and a run that is held go on.
func (x *Lessons) reach(p knob.Phase) error {
	r, plays := x.Lab.(recording)
	if !plays {
		x.Release()
		return nil
	}
	if x.in(p) == 0 && !r.Reach(p) {
		return fmt.Errorf("this replay has no moment of phase %s: record it with --scenes", p)
	}
	return nil
}

// awaited counts the events that the step waits for: how many have happened, and of how many.
func (x *Lessons) awaited() (done, of int) {
	w := x.Lesson.Step().Wait
	if w == nil || x.About.Config.Dreams() && len(x.Lesson.Step().Set) > 0 && len(x.Lesson.asked) == 0 { // what was set already makes no generation
		return 1, 1
	}
	if p, is := presets.Phases[w.For]; is {
		return x.in(p), 1
	}
	done, of = x.happened()[w.For], max(1, w.Count)
	if !w.Ever && w.For != "previewed" { // a preview belongs to what the step staged
		done -= x.Lesson.since[w.For]
	}
	return min(done, of), of
}
