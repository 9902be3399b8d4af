package lesson

import "pgrlab/tui/history"

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

// awaited counts the events that the step waits for: how many have happened, and of how many.
func (x *Lessons) awaited() (done, of int) {
	w := x.Lesson.Step().Wait
	if w == nil || x.About.Config.Dreams() && len(x.Lesson.Step().Set) > 0 && len(x.Lesson.asked) == 0 { // what was set already makes no generation
		return 1, 1
	}
	done, of = x.happened()[w.For], max(1, w.Count)
	if !w.Ever && w.For != "previewed" { // a preview belongs to what the step staged
		done -= x.Lesson.since[w.For]
	}
	return min(done, of), of
}
