// Package agent shows the current state of the task as a picture, with the action and its Q and F.
package agent

import (
	"fmt"
	"math"
	"strings"

	"pgrlab/core/event"
	"pgrlab/tui/format"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// Widths of the numbers beside the picture, and of their names.
const (
	agentColumns = 28
	labelColumns = 9
	besideWidth  = 48 // in a narrower pane the numbers stand above the picture
)

// Pane is a picture of the task, and the numbers of the moment.
type Pane struct {
	*pane.Run
}

// New makes the pane of a run.
func New(r *pane.Run) *Pane { return &Pane{Run: r} }

// ID names the pane.
func (p *Pane) ID() pane.ID { return pane.Agent }

// Tab is the name of the pane on the tab bar.
func (p *Pane) Tab() string { return string(pane.Agent) }

// Title is the text in the border of the pane.
func (p *Pane) Title(w int) (title, note string) { return "AGENT", p.agentNote(w - 14) }

// Keys are those that work while the pane is in focus.
func (p *Pane) Keys() []pane.Binding { return nil }

// DependsOn are the topics that the pane shows.
func (p *Pane) DependsOn() []topic.Topic { return []topic.Topic{topic.Snapshot} }

// Body is the task as it stands, and the agent's numbers for it.
func (p *Pane) Body(w, h int) []string {
	s := p.Snap
	sees := s.Moment != nil && len(s.Moment.Seen) > 0
	switch {
	case sees, p.About.Draw != nil && p.pose() != nil:
	case p.About.Replay && p.About.Config.Sees():
		return p.Waiting("a journal holds no frames: what an agent sees is shown while a run goes on", w, h)
	case p.About.Replay:
		return p.Waiting("a journal holds no poses of the body: the agent is drawn while a run goes on, and in replays of runs with --scenes", w, h)
	case p.About.Draw == nil:
		return p.Waiting("nothing can be drawn here", w, h)
	case p.pose() == nil:
		return p.Waiting("no pose of the body yet", w, h)
	}
	facts := p.agentFacts(h)
	beside := w >= besideWidth
	pictureW, pictureH := w, h-len(facts)
	if beside {
		pictureW, pictureH = w-agentColumns-2, h
	}
	below := p.courseLines(pictureW, pictureH)
	pictureH -= len(below)
	if pictureW < 8 || pictureH < 3 {
		return facts
	}
	canvas := p.Canvas()
	var out []string
	if sees && !p.mapped() {
		out = p.seenLines(pictureW, pictureH, canvas)
	} else {
		size := canvas.Scene(pictureW, pictureH)
		img, err := p.About.Draw(p.pose(), size.X, size.Y)
		if err != nil {
			return p.Waiting(err.Error(), w, h)
		}
		if sees {
			p.seenBeside(img)
		}
		out = p.remembered(img, pictureW, pictureH, canvas)
	}
	out = append(out, below...)
	if !beside {
		return append(facts, out...)
	}
	for i := range out {
		if i < len(facts) {
			out[i] += "  " + facts[i]
		}
	}
	return out
}

// agentFacts are the numbers of the moment, in at most h lines.
func (p *Pane) agentFacts(h int) []string {
	t, s := p.Theme, p.Snap
	label := func(name string) string { return t.Dim.On(t.Fit(name, labelColumns)) }
	now := s.Moment
	episode, step, earned := s.Episode, s.EpisodeStep, s.EpisodeReturn
	if p.remembers() {
		episode, step, earned = now.Episode, now.EpisodeStep, now.EpisodeReturn
	}
	out := []string{
		label("episode") + fmt.Sprintf("%s step %s", format.Count(episode), format.Count(step)),
		label("return") + format.Number(earned) + t.Dim.On(" so far"),
	}
	if step < 0 { // a replay without scenes knows episodes that have ended
		out = []string{label("episode") + format.Count(episode), label("return") + format.Number(earned) + t.Dim.On(" of the last one")}
	}
	if now == nil {
		return out
	}
	if len(now.Seen) > 0 {
		out = append(out, label("sees")+fmt.Sprintf("%d×%d", now.Side, now.Side)+t.Dim.On(fmt.Sprintf(", %d %s", len(now.Seen), format.Plural("frame", len(now.Seen)))))
	}
	if p.About.Config.Chooses() {
		out = append(out, p.memoryFacts()...)
		return append(out, p.choiceFacts(now, h-len(out))...)
	}
	out = append(out, label("Q")+format.Known(now.Q)+t.Dim.On(" of s, π(s)"), label("F")+format.Known(now.F)+p.share(now.F))
	out = append(append(out, p.memoryFacts()...), label("action"))
	for _, a := range now.Action {
		out = append(out, " "+p.slider(float64(a), 15)+fmt.Sprintf(" %+.2f", a))
	}
	return out
}

// share says where an F lies among those of the real rows.
func (p *Pane) share(f float64) string {
	if p.History.F == nil || math.IsNaN(f) || !p.ShowsChosenF() {
		return ""
	}
	h := p.History.F.Real
	if !(h.High > h.Low) {
		return ""
	}
	return p.Theme.Dim.On(" above " + format.Percent(shareBelow(h, f)))
}

// shareBelow is the share of rows below f, as far as bins show.
func shareBelow(h *event.Histogram, f float64) float64 {
	below, beyond := 0.0, float64(h.Rows) // beyond: rows outside of the bins
	for i, n := range h.Counts {
		part := (f - h.Edge(i)) / (h.Edge(i+1) - h.Edge(i))
		below += float64(n) * math.Max(0, math.Min(1, part))
		beyond -= float64(n)
	}
	switch least := float64(h.Min) < h.Low; {
	case f >= float64(h.Max):
		below = float64(h.Rows)
	case f >= h.Low && least && float64(h.Max) > h.High:
		below += beyond / 2 // about as many lie at either end
	case f >= h.Low && least:
		below += beyond
	}
	return below / math.Max(1, float64(h.Rows))
}

// slider shows a number in [-1, 1] as a position on a line of w columns.
func (p *Pane) slider(v float64, w int) string {
	t := p.Theme
	at := int(math.Round((math.Max(-1, math.Min(1, v)) + 1) / 2 * float64(w-1)))
	var b strings.Builder
	for i := range w {
		switch i {
		case at:
			b.WriteString(t.Accent.On(t.Glyphs.Full))
		case w / 2:
			b.WriteString(t.Faint.On(t.Glyphs.Vertical))
		default:
			b.WriteString(t.Faint.On(t.Glyphs.Rest))
		}
	}
	return b.String()
}

// agentNote says where the picture comes from, and what key v does.
func (p *Pane) agentNote(w int) string {
	key := "v back"
	if p.Screen != nil && p.Screen.Visible(pane.Knobs) { // the pane is one of several on the screen
		key = "v large"
	}
	notes := []string{key}
	switch dot := " " + strings.TrimSpace(p.Theme.Glyphs.Separator) + " "; {
	case p.About.Replay:
	case p.Snap != nil && p.mapped():
		notes = append(notes, "what the agent sees, and the maze from above"+dot+key)
	case p.About.Config.Sees():
		notes = append(notes, "what the agent sees, the newest frame large"+dot+key)
	default:
		notes = append(notes, "the training environment"+dot+key)
	}
	for i, note := range notes {
		notes[i] = p.Theme.Dim.On(note)
	}
	return theme.Longest(notes, w)
}

// Poll asks the run for its newest transition while the pane is shown.
func (p *Pane) Poll(visible bool) {
	if visible {
		p.AskMoment()
	}
}
