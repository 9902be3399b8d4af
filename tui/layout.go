package tui

// paneID names a pane.
type paneID int

// The panes, in the order of the focus.
const (
	paneKnobs paneID = iota
	paneReturn
	paneDormant
	panePhase
	paneScores
	paneLosses
	paneEvents
	paneCount
)

// shortName is a pane's name on the tab bar.
var shortName = [paneCount]string{"knobs", "return", "dormant", "phase", "F", "losses", "events"}

// place is where a pane stands: columns x..x+w-1 of the rows y..y+h-1, counted from
// the upper left corner of the screen.
type place struct {
	id         paneID
	x, y, w, h int
}

// frameKind is how the screen is divided, by its size.
type frameKind int

// The kinds, from large to small.
const (
	boxed   frameKind = iota // from 110x34: every pane in a box
	ruled                    // from 80x24: no boxes, a rule between columns
	tabbed                   // from 40x10: one pane at a time, the others are tabs
	oneLine                  // below
)

// Least sizes of the kinds.
const (
	boxedWidth, boxedHeight   = 110, 34
	ruledWidth, ruledHeight   = 80, 24
	tabbedWidth, tabbedHeight = 40, 10
)

// layout is a division of the screen; drawing and focus use the same one.
type layout struct {
	kind   frameKind
	w, h   int
	places []place
}

// divide lays out a screen of w by h; a zoomed pane takes the body for itself.
func divide(w, h int, focus paneID, zoomed bool) layout {
	l := layout{w: w, h: h}
	switch {
	case w < tabbedWidth || h < tabbedHeight:
		l.kind = oneLine
	case zoomed || w < ruledWidth || h < ruledHeight:
		l.kind = tabbed
		l.places = []place{{focus, 0, 2, w, h - 3}}
	case w < boxedWidth || h < boxedHeight:
		l.kind = ruled
		l.places = ruledPlaces(w, h)
	default:
		l.kind = boxed
		l.places = boxedPlaces(w, h)
	}
	return l
}

// roomyKnobs is the height at which the knobs show whole, with their explanation.
const roomyKnobs = 26

// boxedPlaces: charts and events left, the panels right; header above, keys below.
func boxedPlaces(w, h int) []place {
	right := min(64, max(48, w*3/8))
	left := w - right
	body := h - 2
	events := max(6, body*23/100)
	dormant := max(9, body*31/100)
	ret := body - events - dormant

	phase, scores, losses := 7, 8, 4
	knobs := body - phase - scores - losses
	for _, give := range []struct {
		rows  *int
		least int
	}{{&scores, 6}, {&phase, 5}} { // a low screen keeps the knobs usable
		for knobs < 16 && *give.rows > give.least {
			*give.rows--
			knobs++
		}
	}
	for _, take := range []struct {
		rows *int
		most int
	}{{&scores, 12}, {&losses, 8}} { // a high one has rows to spare
		extra := max(0, min(take.most-*take.rows, knobs-roomyKnobs))
		*take.rows += extra
		knobs -= extra
	}
	y := 1
	var out []place
	stack := func(id paneID, x, w, h int) {
		out = append(out, place{id, x, y, w, h})
		y += h
	}
	stack(paneReturn, 0, left, ret)
	stack(paneDormant, 0, left, dormant)
	stack(paneEvents, 0, left, events)
	y = 1
	stack(paneKnobs, left, right, knobs)
	stack(panePhase, left, right, phase)
	stack(paneScores, left, right, scores)
	stack(paneLosses, left, right, losses)
	return out
}

// ruledPlaces: the same without boxes; every pane has one line of title. The column
// between left and right holds the rule.
func ruledPlaces(w, h int) []place {
	right := max(27, w*34/100)
	left := w - right - 2
	events := max(4, h*18/100)
	body := h - 2 - events
	dormant := body * 42 / 100
	phase, scores, losses := 4, 3, 0
	if body >= 24 {
		scores, losses = 5, 3
	}
	knobs := body - phase - scores - losses
	out := []place{
		{paneReturn, 0, 1, left, body - dormant},
		{paneDormant, 0, 1 + body - dormant, left, dormant},
		{paneEvents, 0, 1 + body, w, events},
		{paneKnobs, left + 2, 1, right, knobs},
		{panePhase, left + 2, 1 + knobs, right, phase},
		{paneScores, left + 2, 1 + knobs + phase, right, scores},
	}
	if losses > 0 {
		out = append(out, place{paneLosses, left + 2, 1 + body - losses, right, losses})
	}
	return out
}

// visible says whether the layout shows a pane.
func (l layout) visible(id paneID) bool {
	for _, p := range l.places {
		if p.id == id {
			return true
		}
	}
	return false
}
