package tui

import (
	"fmt"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"strings"
	"time"
)

// phases in the order of a step; collect stands for the step with its updates.
var phases = []struct {
	phase knob.Phase
	name  string
}{
	{knob.Collect, "collect+train"}, {knob.Score, "score"}, {knob.Fit, "fit"},
	{knob.Generate, "generate"}, {knob.Evaluate, "evaluate"}, {knob.Analyse, "analyse"},
}

// phasePane is what the run is doing now, and how far that is.
type phasePane struct {
	*runView
}

func newPhase(r *runView) *phasePane { return &phasePane{runView: r} }

// ID names the pane.
func (m *phasePane) ID() paneID { return panePhase }

// Tab is its name on the tab bar.
func (m *phasePane) Tab() string { return string(panePhase) }

// Title is what its border says.
func (m *phasePane) Title(w int) (title, note string) { return "PHASE", m.phaseNote(w - 12) }

// Keys work while it is in focus.
func (m *phasePane) Keys() []binding { return nil }

// DependsOn are the topics that it shows.
func (m *phasePane) DependsOn() []topic { return []topic{topicSnapshot} }

func (m *phasePane) Body(w, h int) []string {
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
func (m *phasePane) endLines(w int) []string {
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
	if !m.about.Replay && m.about.Folder != "" {
		out = append(out, t.dim.on(firstFitting([]string{"q leaves; then pgrlab report " + m.about.Folder, "q leaves; pgrlab report compares runs"}, w)))
	}
	return out
}

// phaseShort names only the phase that runs, between rings for those before and
// after it where there is room.
func (m *phasePane) phaseShort(w int) string {
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
func (m *phasePane) phaseProgress(w int) string {
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
func (m *phasePane) refitLine(w int) string {
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
func (m *phasePane) batchLine(w int) string {
	t, s := m.theme, m.snap
	all := s.MixReal + s.MixSynthetic
	if m.about.Replay {
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

func (m *phasePane) buffersLine(w int) string {
	t, s := m.theme, m.snap
	data := t.dim.on("D_real ") + count(s.Real) + t.dim.on("  D_syn ") + count(s.Synthetic)
	updates := t.dim.on("updates ") + count(int(s.Updates))
	return longest([]string{data, data + " " + updates, data + "  " + updates}, w)
}

// phaseNote counts the refits.
func (m *phasePane) phaseNote(w int) string {
	if m.snap.Refits == 0 {
		return ""
	}
	note := "1 refit"
	if m.snap.Refits > 1 {
		note = fmt.Sprintf("%d refits", m.snap.Refits)
	}
	return longest([]string{m.theme.dim.on(note)}, w)
}
