// Package phase shows what a run is doing now, and what came of one that is over.
package phase

import (
	"fmt"
	"strings"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/format"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// phases in the order of a step; collect stands for the step with its updates.
var phases = []struct {
	phase knob.Phase
	name  string
}{
	{knob.Collect, "collect+train"}, {knob.Rollout, "rollout"}, {knob.Learn, "learn"}, {knob.Encode, "encode"}, {knob.Reach, "reach"},
	{knob.Score, "score"}, {knob.Fit, "fit"}, {knob.Generate, "generate"}, {knob.Evaluate, "evaluate"}, {knob.Analyse, "analyse"},
}

// rare says whether most runs do not have the phase: it is shown only while it lasts.
func rare(p knob.Phase) bool { return p >= knob.Analyse }

// Pane is what the run is doing now, and how far that is.
type Pane struct {
	*pane.Run
}

// New makes the pane of a run.
func New(r *pane.Run) *Pane { return &Pane{Run: r} }

// ID names the pane.
func (v *Pane) ID() pane.ID { return pane.Phase }

// Tab is its name on the tab bar.
func (v *Pane) Tab() string { return string(pane.Phase) }

// Title is what its border says.
func (v *Pane) Title(w int) (title, note string) { return "PHASE", v.phaseNote(w - 12) }

// Keys work while it is in focus.
func (v *Pane) Keys() []pane.Binding { return nil }

// DependsOn are the topics that it shows.
func (v *Pane) DependsOn() []topic.Topic { return []topic.Topic{topic.Snapshot} }

// Body is the phases, the progress of the running one, and the mix of the last batch.
func (v *Pane) Body(w, h int) []string {
	t := v.Theme
	if v.Ended() {
		lines := v.endLines(w)
		return lines[:min(len(lines), max(1, h))]
	}
	var strip []string
	for _, p := range phases {
		if rare(p.phase) && p.phase != v.Phase() {
			continue // most runs have none
		}
		if p.phase == v.Phase() {
			strip = append(strip, t.Accent.On(t.Glyphs.Dot+" ")+t.Bold.On(p.name))
		} else {
			strip = append(strip, t.Faint.On(t.Glyphs.Ring+" "+p.name))
		}
	}
	line := strings.Join(strip, " ")
	if theme.Width(line)+len(strip) <= w {
		line = strings.Join(strip, "  ")
	}
	if theme.Width(line) > w {
		line = v.phaseShort(w)
	}
	return []string{line, v.phaseProgress(w), v.refitLine(w), v.batchLine(w), v.buffersLine(w)}[:min(5, max(1, h))]
}

// endLines are a run that is over: why it ended, what came of it, and what can be done
// with it.
func (v *Pane) endLines(w int) []string {
	t, s, h := v.Theme, v.Snap, &v.History
	var out []string
	switch {
	case s.Err != "":
		for _, l := range theme.Wrap(t.Glyphs.Cross+" "+s.Err, w) {
			out = append(out, t.Bad.On(l))
		}
	default:
		text := t.Good.On(t.Glyphs.Check) + t.Dim.On(" done: all steps ") + format.Count(s.Steps)
		if s.Step < s.Steps {
			text = t.Warn.On(t.Glyphs.Ring) + t.Dim.On(" stopped at step ") + format.Count(s.Step) + t.Dim.On(" of ") + format.Count(s.Steps)
		}
		out = append(out, theme.Longest([]string{text, text + t.Dim.On(", took ") + format.Duration(v.Wall())}, w))
	}
	if n := len(h.Evaluations); n > 0 {
		last, best := h.Evaluations[n-1], h.Evaluations[0]
		for _, e := range h.Evaluations {
			if e.Mean > best.Mean {
				best = e
			}
		}
		text := t.Dim.On("return ") + t.Bold.On(format.Number(last.Mean)) + t.Dim.On(" at ") + format.Count(last.Step)
		out = append(out, theme.Longest([]string{text, text + t.Dim.On(", best return ") + format.Number(best.Mean) + t.Dim.On(" at ") + format.Count(best.Step)}, w))
	}
	out = append(out, v.buffersLine(w))
	if !v.About.Replay && v.About.Folder != "" {
		out = append(out, t.Dim.On(theme.FirstFitting([]string{"q leaves; then pgrlab report " + v.About.Folder, "q leaves; pgrlab report compares runs"}, w)))
	}
	return out
}

// phaseShort names only the phase that runs, between rings for those before and
// after it where there is room.
func (v *Pane) phaseShort(w int) string {
	t, name, line := v.Theme, "", ""
	for _, p := range phases {
		switch {
		case p.phase == v.Phase():
			name = t.Accent.On(t.Glyphs.Dot+" ") + t.Bold.On(p.name)
			line += " " + name
		case !rare(p.phase):
			line += " " + t.Faint.On(t.Glyphs.Ring)
		}
	}
	if theme.Width(line)-1 <= w {
		return line[1:]
	}
	return name
}

// phaseProgress is the bar of a phase that takes longer than a step.
func (v *Pane) phaseProgress(w int) string {
	t, s := v.Theme, v.Snap
	if s.Err != "" {
		return t.Bad.On(t.Fit(t.Glyphs.Cross+" "+s.Err, w))
	}
	if v.Phase() == knob.Collect || s.PhaseTotal <= 1 || v.Phase() == knob.Learn && quick(s) {
		where := t.Dim.On("episode ") + format.Count(s.Episode) + t.Dim.On(" step ") + format.Count(s.EpisodeStep)
		so := format.Number(s.EpisodeReturn)
		return theme.Longest([]string{where + t.Dim.On(" return so far ") + so, where + t.Dim.On(" sum ") + so, where}, w)
	}
	text := fmt.Sprintf(" %s/%s", format.Count(s.PhaseDone), format.Count(s.PhaseTotal))
	if s.PhaseETA > 0 {
		text += t.Dim.On("  ") + format.Duration(s.PhaseETA) + t.Dim.On(" to go")
	}
	return t.Bar(float64(s.PhaseDone)/float64(s.PhaseTotal), min(30, w-theme.Width(text))) + text
}

// quick says whether the whole phase takes less than a second: what it does goes on too
// fast for a bar.
func quick(s *event.Snapshot) bool {
	left := max(1, s.PhaseTotal-s.PhaseDone)
	return s.PhaseETA > 0 && s.PhaseETA*time.Duration(s.PhaseTotal)/time.Duration(left) < time.Second
}

// refitLine says when the generator is renewed next.
func (v *Pane) refitLine(w int) string {
	t, s := v.Theme, v.Snap
	if v.NextRefit() <= 0 {
		return t.Dim.On("no refit to come")
	}
	text := t.Dim.On("next refit in ") + format.Count(s.NextRefit) + t.Dim.On(" steps")
	texts := []string{text, t.Dim.On("refit in ") + format.Count(s.NextRefit)}
	if s.StepTime > 0 && s.State == event.Running {
		texts = append(texts, text+t.Dim.On(" (")+format.Duration(time.Duration(s.NextRefit)*s.StepTime)+t.Dim.On(")"))
	}
	return theme.Longest(texts, w)
}

// batchLine is the mix of the last batch.
func (v *Pane) batchLine(w int) string {
	t, s := v.Theme, v.Snap
	all := s.MixReal + s.MixSynthetic
	if v.About.Replay {
		return t.Dim.On(t.Fit("a journal does not keep the mix of a batch", w))
	}
	if all == 0 {
		return t.Dim.On("batch  no update yet")
	}
	parts := t.Real.On(format.Count(s.MixReal)+" real") + " + " + t.Synthetic.On(format.Count(s.MixSynthetic)+" synthetic")
	text := theme.Longest([]string{t.Dim.On("batch ") + format.Count(all) + " = " + parts, parts}, w)
	if room := min(24, w-theme.Width(text)-2); room >= 8 {
		n := (s.MixReal*room + all/2) / all
		text += "  " + t.Real.On(strings.Repeat(t.Glyphs.Full, n)) + t.Synthetic.On(strings.Repeat(t.Glyphs.Blocks[3], room-n))
	}
	return text
}

func (v *Pane) buffersLine(w int) string {
	t, s := v.Theme, v.Snap
	data := t.Dim.On("D_real ") + format.Count(s.Real) + t.Dim.On("  D_syn ") + format.Count(s.Synthetic)
	updates := t.Dim.On("updates ") + format.Count(int(s.Updates))
	return theme.Longest([]string{data, data + " " + updates, data + "  " + updates}, w)
}

// phaseNote counts the refits.
func (v *Pane) phaseNote(w int) string {
	if v.Snap.Refits == 0 {
		return ""
	}
	note := "1 refit"
	if v.Snap.Refits > 1 {
		note = fmt.Sprintf("%d refits", v.Snap.Refits)
	}
	return theme.Longest([]string{v.Theme.Dim.On(note)}, w)
}
