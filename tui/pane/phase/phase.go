// Package phase shows what a run is doing, and the result of a run that is over.
package phase

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/shell"
	"pgrlab/tui/format"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// phases are in the order of a step; collect stands for the step with its updates.
var phases = []struct {
	phase knob.Phase
	name  string
}{
	{knob.Collect, "collect+train"}, {knob.Model, "model"}, {knob.Rollout, "rollout"}, {knob.Learn, "learn"}, {knob.Encode, "encode"}, {knob.Reach, "reach"},
	{knob.Score, "score"}, {knob.Fit, "fit"}, {knob.Generate, "generate"}, {knob.Evaluate, "evaluate"}, {knob.Analyse, "analyse"},
}

// rare says whether runs like this one never or seldom have the phase: it is then shown only while
// it lasts.
func (v *Pane) rare(p knob.Phase) bool {
	switch p {
	case knob.Collect, knob.Evaluate, knob.Learn:
		if v.Dreams() {
			return true
		}
	case knob.Score, knob.Fit, knob.Generate:
		return !v.Generates()
	}
	if p == knob.Learn {
		return v.offPolicy()
	}
	return p >= knob.Analyse
}

// offPolicy says whether the learner makes its updates during collecting.
func (v *Pane) offPolicy() bool {
	s, err := v.About.Config.Agent.Spec()
	return err != nil || s.Batches
}

// batches says whether the learner updates on batches of the size that the knob sets; otherwise it
// updates on parts of a rollout.
func (v *Pane) batches() bool {
	s, err := v.About.Config.Agent.Spec()
	return err != nil || slices.Contains(s.Knobs, "batch")
}

// nameOf is the name of a phase in the strip.
func (v *Pane) nameOf(p knob.Phase, name string) string {
	switch {
	case p == knob.Collect && !v.offPolicy():
		return "collect"
	case p == knob.Score && v.Snap.Warming:
		return "F learns"
	}
	return name
}

// Pane is the current work of the run, and its progress.
type Pane struct {
	*pane.Run
}

// New makes the pane of a run.
func New(r *pane.Run) *Pane { return &Pane{Run: r} }

// ID names the pane.
func (v *Pane) ID() pane.ID { return pane.Phase }

// Tab is the name of the pane on the tab bar.
func (v *Pane) Tab() string { return string(pane.Phase) }

// Title is the text in the border of the pane.
func (v *Pane) Title(w int) (title, note string) { return "PHASE", v.phaseNote(w - 12) }

// Keys are those that work while the pane is in focus.
func (v *Pane) Keys() []pane.Binding { return nil }

// DependsOn are the topics that the pane shows.
func (v *Pane) DependsOn() []topic.Topic { return []topic.Topic{topic.Snapshot, topic.Generations} }

// Body is the phases, the progress of the current one, and the mix of the last batch.
func (v *Pane) Body(w, h int) []string {
	t := v.Theme
	if v.Ended() {
		lines := v.endLines(w)
		return lines[:min(len(lines), max(1, h))]
	}
	var strip []string
	for _, p := range phases {
		name := v.nameOf(p.phase, p.name)
		switch {
		case p.phase == v.Phase() && v.Snap.State != event.Ready:
			strip = append(strip, t.Accent.On(t.Glyphs.Dot+" ")+t.Bold.On(name))
		case !v.rare(p.phase):
			strip = append(strip, t.Faint.On(t.Glyphs.Ring+" "+name))
		}
	}
	line := strings.Join(strip, " ")
	if theme.Width(line)+len(strip) <= w {
		line = strings.Join(strip, "  ")
	}
	if theme.Width(line) > w {
		line = v.phaseShort(w)
	}
	lines := []string{line, v.phaseProgress(w)}
	if v.Dreams() {
		return append(lines, v.buffersLine(w))[:min(len(lines)+1, max(1, h))]
	}
	if v.Generates() {
		lines = append(lines, v.refitLine(w))
	}
	if v.Generates() || v.batches() {
		lines = append(lines, v.batchLine(w))
	}
	return append(lines, v.buffersLine(w))[:min(len(lines)+1, max(1, h))]
}

// endLines describe a run that is over: why it ended, its result, and what can be done with it.
func (v *Pane) endLines(w int) []string {
	t, s, h := v.Theme, v.Snap, &v.History
	var out []string
	switch {
	case s.Err != "":
		for _, l := range theme.Wrap(t.Glyphs.Cross+" "+s.Err, w) {
			out = append(out, t.Bad.On(l))
		}
	default:
		text := t.Good.On(t.Glyphs.Check) + t.Dim.On(" done: all ") + format.Count(s.Steps) + t.Dim.On(" steps")
		if s.Step < s.Steps {
			text = t.Warn.On(t.Glyphs.Stop) + t.Dim.On(" stopped at step ") + format.Count(s.Step) + t.Dim.On(" of ") + format.Count(s.Steps)
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
		out = append(out, t.Dim.On(theme.FirstFitting([]string{"q leaves; then pgrlab report " + shell.Word(v.About.Folder), "q leaves; pgrlab report compares runs"}, w)))
	}
	return out
}

// phaseShort names only the current phase; if there is room, rings stand for the phases before and
// after it.
func (v *Pane) phaseShort(w int) string {
	t, name, line := v.Theme, "", ""
	for _, p := range phases {
		switch {
		case v.Dreams() && v.rare(p.phase):
		case p.phase == v.Phase():
			name = t.Accent.On(t.Glyphs.Dot+" ") + t.Bold.On(v.nameOf(p.phase, p.name))
			line += " " + name
		case !v.rare(p.phase):
			line += " " + t.Faint.On(t.Glyphs.Ring)
		}
	}
	if line != "" && theme.Width(line)-1 <= w {
		return line[1:]
	}
	return name
}

// phaseProgress is the progress bar of a phase that takes longer than a step.
func (v *Pane) phaseProgress(w int) string {
	t, s := v.Theme, v.Snap
	if s.Err != "" {
		return t.Bad.On(t.Fit(t.Glyphs.Cross+" "+s.Err, w))
	}
	if s.State == event.Ready {
		return theme.Longest([]string{t.Dim.On("ready"), t.Dim.On("ready: a change makes a generation"), t.Dim.On("ready: a change of a knob makes the next generation")}, w)
	}
	if v.Dreams() && s.PhaseTotal <= 1 {
		return t.Dim.On("begins")
	}
	if v.Phase() == knob.Collect || s.PhaseTotal <= 1 || v.Phase() == knob.Learn && quick(s) {
		where, so := t.Dim.On("episode ")+format.Count(s.Episode), format.Number(s.EpisodeReturn)
		if s.EpisodeStep < 0 { // a replay without scenes knows episodes that have ended
			return theme.Longest([]string{where, where + t.Dim.On(", the last ") + so, where + t.Dim.On(", the last one returned ") + so}[:min(3, 2*s.Episode-1)], w)
		}
		where += t.Dim.On(" step ") + format.Count(s.EpisodeStep)
		return theme.Longest([]string{where + t.Dim.On(" return so far ") + so, where + t.Dim.On(" sum ") + so, where}, w)
	}
	text := fmt.Sprintf(" %s/%s", format.Count(s.PhaseDone), format.Count(s.PhaseTotal))
	if s.PhaseETA > 0 {
		text += t.Dim.On("  ") + format.Duration(s.PhaseETA) + t.Dim.On(" to go")
	}
	return t.Bar(float64(s.PhaseDone)/float64(s.PhaseTotal), min(30, w-theme.Width(text))) + text
}

// quick says whether the whole phase takes less than a second: its progress is too fast for a bar.
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
	if v.About.Replay && all == 0 {
		return t.Dim.On(t.Fit("a journal does not keep the mix of a batch", w))
	}
	if all == 0 {
		return t.Dim.On("batch  no update yet")
	}
	name, share := t.Dim.On("batch ")+format.Count(all)+" = ", format.Count
	if !v.batches() { // a minibatch of any size has these shares
		name = t.Dim.On("minibatches of ")
		share = func(n int) string { return format.Percent(float64(n) / float64(all)) }
	}
	parts := t.Real.On(share(s.MixReal)+" real") + " + " + t.Synthetic.On(share(s.MixSynthetic)+" synthetic")
	text := theme.Longest([]string{name + parts, parts}, w)
	if room := min(24, w-theme.Width(text)-2); room >= 8 {
		n := (s.MixReal*room + all/2) / all
		text += "  " + t.Real.On(strings.Repeat(t.Glyphs.Full, n)) + t.Synthetic.On(strings.Repeat(t.Glyphs.Blocks[3], room-n))
	}
	return text
}

func (v *Pane) buffersLine(w int) string {
	t, s := v.Theme, v.Snap
	data := t.Dim.On("D_real ") + format.Count(s.Real)
	if v.Dreams() && s.Real == 0 { // a journal does not have it
		data = ""
	}
	if v.Generates() {
		data += t.Dim.On("  D_syn ") + format.Count(s.Synthetic)
	}
	if v.Dreams() {
		return theme.Longest([]string{data}, w)
	}
	updates := t.Dim.On("updates ") + format.Count(int(s.Updates))
	return theme.Longest([]string{data, data + " " + updates, data + "  " + updates}, w)
}

// phaseNote counts the refits that are complete: the run counts a fit as it begins.
func (v *Pane) phaseNote(w int) string {
	n, fits := 0, v.About.Config.Has()&knob.UseFit != 0
	for _, r := range v.History.Refits {
		if r.Steps > 0 || !fits { // otherwise a generation without a fit
			n++
		}
	}
	if n == 0 {
		return ""
	}
	note := "1 refit"
	if n > 1 {
		note = fmt.Sprintf("%d refits", n)
	}
	return theme.Longest([]string{v.Theme.Dim.On(note)}, w)
}
