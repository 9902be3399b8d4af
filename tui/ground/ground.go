// Package ground shows the answer to a question about the present moment of a run: is this return a
// fall, or a slip? It is a box over the foot of the screen, above a lesson. No layout has to make room
// for it, the chart with the return stays in sight, and all keys go on working. Package ground of the
// core says what is asked and how it is answered.
package ground

import (
	"fmt"
	"math"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/ground"
	"pgrlab/tui/format"
	"pgrlab/tui/steer"
	"pgrlab/tui/theme"
)

// Box is the newest answer of a run, or the question while it is under way.
type Box struct {
	*steer.Steering
	found  *event.Grounded // nil: none is shown
	hidden bool            // the question under way was asked from another screen, and is not wanted here
}

// New makes the box of the run that s steers.
func New(s *steer.Steering) *Box { return &Box{Steering: s} }

// Ask begins a question.
func (b *Box) Ask() tea.Cmd {
	b.hidden = false
	if under := b.under(); under != nil {
		b.Tell("ground is being asked already: esc leaves it")
		return nil
	}
	if b.AskGround() {
		b.found = nil
	}
	return nil
}

// Event shows an answer that comes while this screen looks; older ones are events.
func (b *Box) Event(e event.Event) {
	if g, is := e.Body.(event.Grounded); is && b.Snap != nil && !b.hidden {
		b.found = &g
	}
	if why := event.Refusal(e, event.TypeGround); why != "" && b.Snap != nil && why != event.LeftGround {
		b.Tell(why)
	}
}

// Poll forgets that a question was hidden once it is over.
func (b *Box) Poll() {
	if b.Snap != nil && b.Snap.Ground == nil {
		b.hidden = false
	}
}

// Shown says whether there is something in the box.
func (b *Box) Shown() bool { return b.found != nil || b.under() != nil }

// Dismiss closes the box, and ends the question under way if this screen drives. It says whether there was
// something to close.
func (b *Box) Dismiss() bool {
	if !b.Shown() {
		return false
	}
	if b.under() != nil {
		b.hidden = true
		if !b.Watching() {
			b.LeaveGround()
		}
	}
	b.found = nil
	b.Changed()
	return true
}

// under is the question under way; nil: there is none to show.
func (b *Box) under() *event.Grounding {
	if b.Snap == nil || b.hidden {
		return nil
	}
	return b.Snap.Ground
}

// The most columns of the box, and the rows that it may take on any screen.
const (
	widest = 100
	least  = 8
)

// View draws the box for a screen of w by h, of which it takes at most half of the rows, but on a low
// screen up to least; nil: there is nothing to show.
func (b *Box) View(w, h int) []string {
	if !b.Shown() {
		return nil
	}
	t, w := b.Theme, min(w, widest)
	most := min(h-4, max(h/2, least)) - 2
	step, note, text, returns := b.content()
	body := []string{}
	for _, l := range text {
		body = append(body, theme.WrapStyled(l, w-4)...)
	}
	hint := b.hint()
	for _, rows := range []int{4, 3, 2, 1} {
		if drawn := b.histogram(returns, rows, w-4); len(drawn)+len(body)+1 <= most {
			body = append(body, drawn...)
			break
		}
	}
	if len(body) < most {
		body = append(body, hint)
	}
	title := "GROUND at " + format.Count(step)
	return t.Box(title, t.Dim.On(note), theme.Indent(body[:min(len(body), most)]), w, min(len(body), most)+2, false)
}

// Text is what the box says, without a picture.
func (b *Box) Text() []string {
	if !b.Shown() {
		return nil
	}
	_, _, text, _ := b.content()
	return text
}

// content is what there is to say and to draw.
func (b *Box) content() (step int, note string, text []string, r returns) {
	t := b.Theme
	if g := b.under(); g != nil {
		share := float64(g.Episodes) / float64(max(1, g.Of))
		line := t.Bar(share, 24) + fmt.Sprintf(" %d of %d episodes", g.Episodes, g.Of)
		if g.Left > 0 {
			line += ", " + format.Duration(g.Left) + t.Dim.On(" to go")
		}
		return g.Step, "64 single updates, an episode after each", []string{line}, returns{all: g.Neighbours, here: math.NaN(), half: math.NaN()}
	}
	read := ground.Of(b.found)
	r = returns{here: read.Return, half: read.Bound(), level: read.Level, last: read.Last, more: read.More}
	r.of = "of what is usual"
	if read.Word == ground.Fall {
		r.of = "the level"
	}
	for _, v := range b.found.Neighbours {
		r.all = append(r.all, float64(v))
	}
	ink := map[string]theme.Ink{ground.Fall: t.Bad, ground.Rough: t.Warn, ground.Slip: t.Good, ground.Firm: t.Good}[read.Word]
	said := read.Says(format.Number)
	head, rest, _ := strings.Cut(said, ":")
	return b.found.At, fmt.Sprintf("%d single updates, an episode after each", read.Of), []string{ink.On(head) + ":" + rest}, r
}

// hint says which keys there are.
func (b *Box) hint() string {
	t := b.Theme
	key := func(k, does string) string { return t.Key.On(k) + " " + t.Dim.On(does) }
	switch {
	case b.under() != nil && b.Watching():
		return key("esc", "close")
	case b.under() != nil:
		return key("esc", "leave it")
	case b.About.Replay || !b.MayDrive() || b.Ended():
		return key("esc", "close")
	}
	return key("G", "ask again") + "  " + key("esc", "close")
}
