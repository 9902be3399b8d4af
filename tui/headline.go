package tui

import (
	"fmt"
)

// headline is the first line of the screen: what runs, how far it is, how fast.
type headline struct {
	*runView
	link *link     // nil: nothing is known of the line to the terminal
	eta  countdown // to the end of the run
}

// line is it in w columns.
func (m *headline) line(w int) string {
	t, s, o := m.theme, m.snap, m.about
	state := m.stateText()
	done := fmt.Sprintf("%s/%s", count(s.Step), count(s.Steps))
	percent := fmt.Sprintf("%d%%", int(100*m.fraction()))
	speed := rate(s.StepsPerSec) + t.dim.on(" steps/s")
	updates := rate(s.UpdatesPerSec) + t.dim.on(" updates/s")
	eta := t.dim.on("eta ") + m.eta.text()
	dot := t.faint.on(" " + t.glyphs.separator + " ")
	name := t.bold.on(o.Config.Task) + dot + o.Config.Method
	seed := t.dim.on("seed ") + fmt.Sprint(o.Config.Seed)
	if o.Replay && !(o.Ended && m.ended()) {
		state += " " + t.staged.on(fmt.Sprintf("REPLAY %s%g", t.glyphs.times, replaySpeed(m.lab)))
	}
	if pace := m.link.pace(); pace > 0 {
		state += " " + t.warn.on("slow line: a look every "+fmt.Sprintf("%.1f s", pace.Seconds()))
	}
	badge := dot + m.badge(&m.history)
	brief := badge // a clean run need not say so where room is short
	if m.history.touched() == 0 {
		brief = ""
	}
	if m.eta.text() == "" || m.ended() { // nothing is known, or nothing is left
		eta = ""
	}
	if m.ended() {
		speed, updates, eta = "", "", t.dim.on("took ")+duration(m.wall())
	}
	task := t.bold.on(o.Config.Task)
	speeds := join(w, "  ", speed, updates)
	lefts := []string{state + "  " + name + dot + seed + badge + dot + t.dim.on(m.device()), state + "  " + name + dot + seed + badge, state + "  " + name + dot + seed + brief,
		state + "  " + name + brief, state + "  " + task + brief}
	where := t.dim.on("step ") + done + " "
	for _, right := range []struct {
		parts    []string
		from, to int // the lefts that it may stand beside
	}{
		{[]string{where + t.bar(m.fraction(), 24) + " " + percent, speeds, eta}, 0, 2},
		{[]string{where + t.bar(m.fraction(), 12) + " " + percent, speeds, eta}, 0, 3},
		{[]string{done + " " + percent, speed, eta}, 1, 3},
		{[]string{done + " " + percent, eta}, 1, 3},
		{[]string{done + " " + percent}, 1, 3},
		{[]string{done + " " + percent, eta}, 3, 5},
		{[]string{done + " " + percent}, 3, 5},
	} {
		text := join(w, "  ", right.parts...)
		for _, l := range lefts[right.from:right.to] {
			if width(l)+2+width(text) <= w {
				return t.spread(l, text, w)
			}
		}
	}
	parts := []string{state, done, percent, task, o.Config.Method, speed, eta}
	if brief != "" {
		parts = append(parts[:3:3], append([]string{m.badge(&m.history)}, parts[3:]...)...)
	}
	return join(w, "  ", parts...)
}

// short is all there is below 40x10.
func (m *headline) short(w int) string {
	s, h := m.snap, &m.history
	parts := []string{m.stateText(), fmt.Sprintf("%s/%s", count(s.Step), count(s.Steps))}
	if n := len(h.evaluations); n > 0 {
		parts = append(parts, "return "+number(h.evaluations[n-1].mean))
	}
	if n := len(h.dormant); n > 0 {
		parts = append(parts, fmt.Sprintf("dormant %.3f", h.dormant[n-1].sokar))
	}
	return join(w, "  ", parts...)
}
