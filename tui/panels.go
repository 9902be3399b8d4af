package tui

import (
	"fmt"
	"math"
	"strings"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
)

// header is the first line: what runs, how far it is, how fast.
func (m *Model) header(w int) string {
	t, s, o := m.theme, m.snap, m.options
	state := m.stateText()
	done := fmt.Sprintf("%s/%s", count(s.Step), count(s.Steps))
	percent := fmt.Sprintf("%d%%", int(100*m.fraction()))
	speed := rate(s.StepsPerSec) + t.dim.on(" steps/s")
	updates := rate(s.UpdatesPerSec) + t.dim.on(" updates/s")
	eta := t.dim.on("eta ") + m.eta.text()
	dot := t.faint.on(" " + t.glyphs.separator + " ")
	name := t.bold.on(o.Config.Task) + dot + o.Config.Method
	seed := t.dim.on("seed ") + fmt.Sprint(o.Config.Seed)
	if m.options.Replay && !(m.options.Ended && m.ended()) {
		state += " " + t.staged.on(fmt.Sprintf("REPLAY %s%g", t.glyphs.times, m.replaySpeed()))
	}
	if pace := m.link.pace(); pace > 0 {
		state += " " + t.warn.on("slow line: a look every "+fmt.Sprintf("%.1f s", pace.Seconds()))
	}
	badge := dot + m.badge(&m.history)
	short := badge // a clean run need not say so where room is short
	if m.history.touched() == 0 {
		short = ""
	}
	if m.eta.text() == "" || m.ended() { // nothing is known, or nothing is left
		eta = ""
	}
	if m.ended() {
		speed, updates, eta = "", "", t.dim.on("took ")+duration(m.wall())
	}
	task := t.bold.on(o.Config.Task)
	speeds := join(w, "  ", speed, updates)
	lefts := []string{state + "  " + name + dot + seed + badge + dot + t.dim.on(m.device()), state + "  " + name + dot + seed + badge, state + "  " + name + dot + seed + short,
		state + "  " + name + short, state + "  " + task + short}
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
	if short != "" {
		parts = append(parts[:3:3], append([]string{m.badge(&m.history)}, parts[3:]...)...)
	}
	return join(w, "  ", parts...)
}

// wall is the time from the first event to the newest.
func (m *Model) wall() time.Duration {
	n := len(m.history.lines)
	if n == 0 {
		return 0
	}
	return m.history.lines[n-1].wall.Sub(m.history.begin)
}

func (m *Model) fraction() float64 {
	if m.snap.Steps <= 0 {
		return 0
	}
	return math.Min(1, float64(m.snap.Step)/float64(m.snap.Steps))
}

// stateText is the run's state with a sign of its own, so that it reads without
// colour.
func (m *Model) stateText() string {
	t := m.theme
	switch m.snap.State {
	case event.Running:
		return t.stateRun.on(t.glyphs.play + " RUN")
	case event.PausedState:
		return t.statePause.on(t.glyphs.pause + " PAUSED")
	case event.Finished:
		return t.stateRun.on(t.glyphs.check + " DONE")
	case event.FailedState:
		return t.stateStop.on(t.glyphs.cross + " FAILED")
	default:
		return t.stateStart.on(t.glyphs.ring + " STARTING")
	}
}

// oneLine is all there is below 40x10.
func (m *Model) oneLine(w int) string {
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

// phases in the order of a step; collect stands for the step with its updates.
var phases = []struct {
	phase knob.Phase
	name  string
}{
	{knob.Collect, "collect+train"}, {knob.Score, "score"}, {knob.Fit, "fit"},
	{knob.Generate, "generate"}, {knob.Evaluate, "evaluate"}, {knob.Analyse, "analyse"},
}

func (m *Model) phaseBody(w, h int) []string {
	t := m.theme
	if m.ended() {
		lines := m.endLines(w)
		return lines[:min(len(lines), max(1, h))]
	}
	var strip []string
	for _, p := range phases {
		if p.phase == knob.Analyse && m.phase() != knob.Analyse {
			continue // most runs have none
		}
		if p.phase == m.phase() {
			strip = append(strip, t.accent.on(t.glyphs.dot+" ")+t.bold.on(p.name))
		} else {
			strip = append(strip, t.faint.on(t.glyphs.ring+" "+p.name))
		}
	}
	line := strings.Join(strip, " ")
	if width(line)+len(strip) <= w {
		line = strings.Join(strip, "  ")
	}
	if width(line) > w {
		line = m.phaseShort(w)
	}
	return []string{line, m.phaseProgress(w), m.refitLine(w), m.batchLine(w), m.buffersLine(w)}[:min(5, max(1, h))]
}

// endLines are a run that is over: why it ended, what came of it, and what can be done
// with it.
func (m *Model) endLines(w int) []string {
	t, s, h := m.theme, m.snap, &m.history
	var out []string
	switch {
	case s.Err != "":
		for _, l := range wrap(t.glyphs.cross+" "+s.Err, w) {
			out = append(out, t.bad.on(l))
		}
	default:
		text := t.good.on(t.glyphs.check) + t.dim.on(" done: all steps ") + count(s.Steps)
		out = append(out, longest([]string{text, text + t.dim.on(", took ") + duration(m.wall())}, w))
	}
	if n := len(h.evaluations); n > 0 {
		last, best := h.evaluations[n-1], h.evaluations[0]
		for _, e := range h.evaluations {
			if e.mean > best.mean {
				best = e
			}
		}
		text := t.dim.on("return ") + t.bold.on(number(last.mean)) + t.dim.on(" at ") + count(last.step)
		out = append(out, longest([]string{text, text + t.dim.on(", best return ") + number(best.mean) + t.dim.on(" at ") + count(best.step)}, w))
	}
	out = append(out, m.buffersLine(w))
	if !m.options.Replay && m.options.Folder != "" {
		out = append(out, t.dim.on(firstFitting([]string{"q leaves; then pgrlab report " + m.options.Folder, "q leaves; pgrlab report compares runs"}, w)))
	}
	return out
}

// nextRefit is the env steps to the next refit; 0: none is to come.
func (m *Model) nextRefit() int {
	if m.ended() {
		return 0
	}
	return m.snap.NextRefit
}

// phase is the one that runs; between two steps it is the step's.
func (m *Model) phase() knob.Phase {
	if m.snap.Phase == knob.AfterStep {
		return knob.Collect
	}
	return m.snap.Phase
}

// phaseShort names only the phase that runs, between rings for those before and
// after it where there is room.
func (m *Model) phaseShort(w int) string {
	t, name, line := m.theme, "", ""
	for _, p := range phases {
		switch {
		case p.phase == m.phase():
			name = t.accent.on(t.glyphs.dot+" ") + t.bold.on(p.name)
			line += " " + name
		case p.phase != knob.Analyse:
			line += " " + t.faint.on(t.glyphs.ring)
		}
	}
	if width(line)-1 <= w {
		return line[1:]
	}
	return name
}

// phaseProgress is the bar of a phase that takes longer than a step.
func (m *Model) phaseProgress(w int) string {
	t, s := m.theme, m.snap
	if s.Err != "" {
		return t.bad.on(t.fit(t.glyphs.cross+" "+s.Err, w))
	}
	if m.phase() == knob.Collect || s.PhaseTotal <= 1 {
		where := t.dim.on("episode ") + count(s.Episode) + t.dim.on(" step ") + count(s.EpisodeStep)
		so := number(s.EpisodeReturn)
		return longest([]string{where + t.dim.on(" return so far ") + so, where + t.dim.on(" sum ") + so, where}, w)
	}
	text := fmt.Sprintf(" %s/%s", count(s.PhaseDone), count(s.PhaseTotal))
	if s.PhaseETA > 0 {
		text += t.dim.on("  ") + duration(s.PhaseETA) + t.dim.on(" to go")
	}
	return t.bar(float64(s.PhaseDone)/float64(s.PhaseTotal), min(30, w-width(text))) + text
}

// refitLine says when the generator is renewed next.
func (m *Model) refitLine(w int) string {
	t, s := m.theme, m.snap
	if m.nextRefit() <= 0 {
		return t.dim.on("no refit to come")
	}
	text := t.dim.on("next refit in ") + count(s.NextRefit) + t.dim.on(" steps")
	texts := []string{text, t.dim.on("refit in ") + count(s.NextRefit)}
	if s.StepTime > 0 && s.State == event.Running {
		texts = append(texts, text+t.dim.on(" (")+duration(time.Duration(s.NextRefit)*s.StepTime)+t.dim.on(")"))
	}
	return longest(texts, w)
}

// batchLine is the mix of the last batch.
func (m *Model) batchLine(w int) string {
	t, s := m.theme, m.snap
	all := s.MixReal + s.MixSynthetic
	if m.options.Replay {
		return t.dim.on(t.fit("a journal does not keep the mix of a batch", w))
	}
	if all == 0 {
		return t.dim.on("batch  no update yet")
	}
	parts := t.real.on(count(s.MixReal)+" real") + " + " + t.synthetic.on(count(s.MixSynthetic)+" synthetic")
	text := longest([]string{t.dim.on("batch ") + count(all) + " = " + parts, parts}, w)
	if room := min(24, w-width(text)-2); room >= 8 {
		n := (s.MixReal*room + all/2) / all
		text += "  " + t.real.on(strings.Repeat(t.glyphs.full, n)) + t.synthetic.on(strings.Repeat(t.glyphs.blocks[3], room-n))
	}
	return text
}

func (m *Model) buffersLine(w int) string {
	t, s := m.theme, m.snap
	data := t.dim.on("D_real ") + count(s.Real) + t.dim.on("  D_syn ") + count(s.Synthetic)
	updates := t.dim.on("updates ") + count(int(s.Updates))
	return longest([]string{data, data + " " + updates, data + "  " + updates}, w)
}

// phaseNote counts the refits.
func (m *Model) phaseNote(w int) string {
	if m.snap.Refits == 0 {
		return ""
	}
	note := "1 refit"
	if m.snap.Refits > 1 {
		note = fmt.Sprintf("%d refits", m.snap.Refits)
	}
	return longest([]string{m.theme.dim.on(note)}, w)
}

// lossesBody is the newest loss of each part with its past at the evaluations.
func (m *Model) lossesBody(w, h int) []string {
	t := m.theme
	parts := m.losses()
	perLine := max(1, min((len(parts)+max(1, h)-1)/max(1, h), w/14))
	cell := w / perLine
	var out []string
	var line strings.Builder
	for i, p := range parts {
		text := t.dim.on(p.name+" ") + number(p.now)
		if perLine == 1 && w >= 30 { // a column each
			text = t.dim.on(t.fit(p.name, 10)) + t.fit(number(p.now), 7)
		}
		if room := min(24, cell-width(text)-2); room >= 3 {
			text += " " + t.accent.on(t.trend(p.past, room))
		}
		line.WriteString(t.fit(text, cell))
		if (i+1)%perLine == 0 || i == len(parts)-1 {
			out = append(out, line.String())
			line.Reset()
		}
	}
	return out
}

// lossPart is one loss: of the last update, and at the evaluations so far.
type lossPart struct {
	name string
	now  float64
	past []float64
}

func (m *Model) losses() []lossPart {
	nan := math.NaN()
	now := event.UpdateLosses{Critic: nan, Actor: nan, Alpha: nan, QMean: nan, Curiosity: nan}
	if l := m.snap.Losses; l != nil {
		now = *l
	}
	parts := []lossPart{{"critic", now.Critic, nil}, {"actor", now.Actor, nil}, {"α", now.Alpha, nil},
		{"Q mean", now.QMean, nil}, {"ICM", now.Curiosity, nil}}
	for i, name := range [...]curveName{curveCritic, curveActor, curveAlpha, curveQMean, curveCuriosity} {
		if c := m.history.curve(name, 0); c != nil {
			for _, v := range c.samples {
				parts[i].past = append(parts[i].past, v.y)
			}
		}
	}
	generator := lossPart{"generator", nan, nil}
	for _, r := range m.history.refits {
		if r.steps > 0 {
			generator.past = append(generator.past, r.loss)
			generator.now = r.loss
		}
	}
	if m.phase() == knob.Fit {
		generator.now = m.snap.FitLoss
	}
	return append(parts, generator)
}

func (m *Model) lossesNote(w int) string {
	return longest([]string{m.theme.dim.on("curves: at the evaluations")}, w)
}

// device is the device with what is known of its kernels.
func (m *Model) device() string {
	if m.options.Device != "" {
		return m.options.Device
	}
	return m.options.Config.Device
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
