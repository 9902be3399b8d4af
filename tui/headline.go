package tui

import (
	"fmt"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/format"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// headline is the first line of the screen: what runs, how far it has come, how fast.
type headline struct {
	*pane.Run
	link *link     // nil: nothing is known of the line to the terminal
	eta  countdown // to the end of the run
}

// line is the headline in w columns.
func (p *headline) line(w int) string {
	t, s, o := p.Theme, p.Snap, p.About
	state := p.StateText()
	steps := fmt.Sprintf("%s/%s", format.Count(s.Step), format.Count(s.Steps))
	done := steps
	percent := fmt.Sprintf("%d%%", int(100*p.Fraction()))
	speed := format.Rate(s.StepsPerSec) + t.Dim.On(" steps/s")
	updates := format.Rate(s.UpdatesPerSec) + t.Dim.On(" updates/s")
	if doing := p.interval(); doing != "" {
		speed, updates = doing, ""
	}
	eta := t.Dim.On("eta ") + p.eta.text()
	if s.ETALeast {
		eta += "+"
	}
	dot := t.Faint.On(" " + t.Glyphs.Separator + " ")
	name := t.Bold.On(o.Config.Task) + dot + o.Config.Method
	seed := t.Dim.On("seed ") + fmt.Sprint(o.Config.Seed)
	if n := o.Config.Members; n > 1 {
		seed = t.Dim.On("seeds ") + fmt.Sprintf("%d-%d", o.Config.Seed, o.Config.Seed+uint64(n)-1)
	}
	if o.Replay && !(o.Ended && p.Ended()) {
		state += " " + t.Staged.On(fmt.Sprintf("REPLAY %s%g", t.Glyphs.Times, replaySpeed(p.Lab)))
	}
	if pace := p.link.pace(); pace > 0 {
		state += " " + t.Warn.On("slow line: a look every "+fmt.Sprintf("%.1f s", pace.Seconds()))
	}
	badge := dot + p.Badge(&p.History)
	brief := badge // a clean run can omit it where room is short
	if p.History.Touched() == 0 {
		brief = ""
	}
	if p.eta.text() == "" || p.Ended() { // nothing is known, or nothing is left
		eta = ""
	}
	if p.Dreams() {
		return p.dream(w, state, badge)
	}
	if p.Ended() {
		speed, updates, eta = "", "", t.Dim.On("took ")+format.Duration(p.Wall())
	}
	task := t.Bold.On(o.Config.Task)
	speeds := theme.Join(w, "  ", speed, updates)
	lefts := []string{state + "  " + name + dot + seed + badge + dot + t.Dim.On(p.Device()), state + "  " + name + dot + seed + badge, state + "  " + name + dot + seed + brief,
		state + "  " + name + brief, state + "  " + task + brief}
	where := t.Dim.On("step ") + done + " "
	if frames := p.frames(); frames != "" { // frames matter more than the bar
		where, done = where+frames+" ", done+" "+frames
	}
	for _, right := range []struct {
		parts    []string
		from, to int // indices of the left parts that it may stand beside
	}{
		{[]string{where + t.Bar(p.Fraction(), 24) + " " + percent, speeds, eta}, 0, 2},
		{[]string{where + t.Bar(p.Fraction(), 12) + " " + percent, speeds, eta}, 0, 3},
		{[]string{done + " " + percent, speed, eta}, 1, 3},
		{[]string{done + " " + percent, eta}, 1, 3},
		{[]string{steps + " " + percent, eta}, 1, 3},
		{[]string{done + " " + percent}, 1, 3},
		{[]string{done + " " + percent, eta}, 3, 5},
		{[]string{steps + " " + percent, eta}, 3, 5},
		{[]string{done + " " + percent}, 3, 5},
		{[]string{steps + " " + percent}, 3, 5},
	} {
		text := theme.Join(w, "  ", right.parts...)
		for _, l := range lefts[right.from:right.to] {
			if theme.Width(l)+2+theme.Width(text) <= w {
				return t.Spread(l, text, w)
			}
		}
	}
	parts := []string{state, steps, percent, task, o.Config.Method, speed, eta}
	if brief != "" {
		parts = append(parts[:3:3], append([]string{p.Badge(&p.History)}, parts[3:]...)...)
	}
	return theme.Join(w, "  ", parts...)
}

// dream is the headline of a run without an agent: there are no steps to an end, and no speed.
func (p *headline) dream(w int, state, badge string) string {
	t, s, c := p.Theme, p.Snap, &p.About.Config
	dot := t.Faint.On(" " + t.Glyphs.Separator + " ")
	name := state + "  " + t.Bold.On(c.Task) + dot + c.Method
	rows := t.Dim.On("dream")
	if s.Real > 0 { // else a journal does not say
		rows = t.Dim.On("dream of ") + format.Count(s.Real) + t.Dim.On(" rows")
	}
	doing := ""
	if phase := p.without(); phase != "" && s.State == event.Running && s.PhaseTotal > 0 {
		doing = t.Warn.On(fmt.Sprintf("%s %d%%", phase, 100*s.PhaseDone/s.PhaseTotal)) + "  "
	}
	right := doing + t.Dim.On("generation ") + format.Count(max(1, s.Step))
	for _, left := range []string{name + dot + rows + badge + dot + t.Dim.On(p.Device()), name + dot + rows + badge, name + dot + rows, name, state} {
		if theme.Width(left)+2+theme.Width(right) <= w {
			return t.Spread(left, right, w)
		}
	}
	return theme.Join(w, "  ", state, right)
}

// intervals are the phases in which no env steps are made, in words.
var intervals = map[knob.Phase]string{knob.Encode: "encoding", knob.Reach: "learning reach", knob.Score: "scoring", knob.Fit: "fitting",
	knob.Generate: "generating", knob.Evaluate: "evaluating", knob.Analyse: "analysing"}

// without is what the run does instead of env steps; "": it makes them.
func (p *headline) without() string {
	if p.Snap.Warming {
		return p.Snap.Doing()
	}
	return intervals[p.Snap.Phase]
}

// interval is what the run does, and how far that has come, while the rate of env steps is 0
// because of it; "": they are made.
func (p *headline) interval() string {
	s, doing := p.Snap, p.without()
	if doing == "" || s.State != event.Running || s.PhaseTotal <= 1 || s.StepsPerSec >= 0.05 {
		return ""
	}
	return p.Theme.Warn.On(fmt.Sprintf("%s %d%%", doing, 100*s.PhaseDone/s.PhaseTotal))
}

// frames are the task's frames so far, where a run learns from pixels: published results of such
// runs count in frames. Where a step is a frame, steps are enough.
func (p *headline) frames() string {
	c := &p.About.Config
	if !c.Sees() || c.Frames(1) == 1 {
		return ""
	}
	return format.Count(c.Frames(p.Snap.Step)) + p.Theme.Dim.On(" frames")
}

// short is the whole screen below 40x10.
func (p *headline) short(w int) string {
	s, h := p.Snap, &p.History
	parts := []string{p.StateText(), fmt.Sprintf("%s/%s", format.Count(s.Step), format.Count(s.Steps))}
	if p.Dreams() {
		parts[1] = "generation " + format.Count(s.Step)
	}
	if n := len(h.Evaluations); n > 0 {
		parts = append(parts, "return "+format.Number(h.Evaluations[n-1].Mean))
	}
	if n := len(h.Dormant); n > 0 {
		parts = append(parts, fmt.Sprintf("dormant %.3f", h.Dormant[n-1].Sokar))
	}
	return theme.Join(w, "  ", parts...)
}
