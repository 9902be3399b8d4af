package tui

import "pgrlab/tui/pane"

// place is a pane's position: columns x..x+w-1 of rows y..y+h-1, counted from the upper left corner
// of the screen.
type place struct {
	id         pane.ID
	x, y, w, h int
}

// frameKind is how the screen is divided, depending on its size.
type frameKind int

// The kinds, from large to small.
const (
	boxed   frameKind = iota // from 110x34: every pane in a box
	ruled                    // from 80x24: no boxes, a rule between columns
	tabbed                   // from 40x10: one pane at a time, the others are tabs
	oneLine                  // anything smaller
)

// view is what the person wants to see: the few things that matter, everything, or what can be read
// from the back of a room.
type view int

// The views.
const (
	focusView view = iota
	fullView
	presentView
	viewCount
)

var viewNames = [viewCount]string{"focus", "full", "present"}

// String is focus, full or present.
func (v view) String() string { return viewNames[v] }

// layout is a division of the screen; drawing, focus and mouse use the same layout.
type layout struct {
	kind   frameKind
	w, h   int
	places []place
}

// division is what a layout is made for.
type division struct {
	w, h   int // without the lesson
	lesson int // rows of a lesson below
	view   view
	focus  pane.ID
	zoomed bool
	knobs  int     // knobs that the method uses
	chart  pane.ID // the chart of the present view
	panel  pane.ID // the panel of the present view
	// scores is the pane in the place of the distributions of F: the scores, or the agent if there
	// is no generator and so no F. The agent then takes the generator's place too, unless the learner
	// imagines: it has a model of the world, which that place shows. Without an agent to be seen the
	// model of the world takes both.
	scores    pane.ID
	imagines  bool
	fan       bool // forks are shown, and the focus is not on what they take the place of: scores and phase
	projected bool // large digits stand above the chart of the present view
	dreams    bool // there is no agent: the generations stand in the place of the first chart, and the map in that of the second
}

// divide lays out a screen. A zoomed pane takes the whole body, and so does a pane in focus that
// the view does not show.
func divide(d division) (l layout) {
	l = layout{w: d.w, h: d.h}
	if d.dreams {
		if d.chart == pane.Chart1 {
			d.chart = pane.Generations
		}
		if d.view == fullView {
			d.view = focusView // everything that there is
		}
		defer func() { l.dream() }()
	}
	least := pane.TabbedHeight
	if d.lesson > 0 {
		least = pane.AboveLesson
	}
	switch {
	case d.w < pane.TabbedWidth || d.h < least:
		l.kind = oneLine
		return l
	case d.zoomed || d.w < pane.RuledWidth || d.h < pane.RuledHeight:
		l.kind = tabbed
	case d.view == presentView:
		l.kind, l.places = boxed, presentPlaces(d)
	case d.view == fullView && d.w >= pane.FullWidth && d.h >= pane.FullHeight:
		l.kind, l.places = boxed, fullPlaces(d)
	case d.view == fullView:
		l.kind = tabbed
	case d.w < pane.BoxedWidth || d.h < pane.BoxedHeight:
		l.kind, l.places = ruled, ruledPlaces(d)
	default:
		l.kind, l.places = boxed, boxedPlaces(d)
	}
	if l.kind != tabbed && !l.visible(d.focus) {
		l.kind = tabbed
	}
	if l.kind == tabbed {
		l.places = []place{{d.focus, 0, 2, d.w, d.h - tabbedFrame}}
	}
	return l
}

// dream puts what a run without an agent has in the place of its charts.
func (l *layout) dream() {
	for i := range l.places {
		switch p := &l.places[i]; p.id {
		case pane.Chart1:
			p.id = pane.Generations
		case pane.Chart2:
			p.id = pane.Map
		}
	}
}

// tabbedFrame is the lines of a screen with tabs that are no pane's: header, tabs and footer.
const tabbedFrame = 3

// roomyKnobs is the height at which the knobs show whole, with their explanation.
const roomyKnobs = 27

// enough is the height at which the knobs that the method uses do, with a row for all others.
func (d division) enough() int { return min(roomyKnobs, d.knobs+1+7) }

// stack puts panes below each other, from row y on.
func stack(to []place, x, y, w int, panes ...place) []place {
	for _, p := range panes {
		if p.h <= 0 {
			continue
		}
		to = append(to, place{p.id, x, y, w, p.h})
		y += p.h
	}
	return to
}

// rows is a pane and its height, for stack.
func rows(id pane.ID, h int) place { return place{id: id, h: h} }

// boxedPlaces puts charts and events left, knobs, F and phase right, the header above and the keys
// below.
func boxedPlaces(d division) []place {
	w, h := d.w, d.h
	right := min(64, max(48, w*3/8))
	left := w - right
	body := h - 2
	events := max(6, body*23/100)
	dormant := max(9, body*31/100)

	phase, scores := 7, 9
	if d.fan {
		scores = min(20, body-roomyKnobs/2)
		phase, d.scores = 0, pane.Fan
	}
	knobs := body - phase - scores
	for knobs < 17 && (scores > 6 || phase > 5) { // on a low screen keep the knobs usable
		if scores > 6 {
			scores--
		} else {
			phase--
		}
		knobs = body - phase - scores
	}
	tallest, enough := 16, roomyKnobs
	if d.scores == pane.Agent || d.scores == pane.Dreams { // a picture, beside few knobs
		tallest, enough = 24, d.enough()
	}
	extra := max(0, min(tallest-scores, knobs-enough)) // a high screen has rows to spare
	scores, knobs = scores+extra, knobs-extra
	out := stack(nil, 0, 1, left, rows(pane.Chart1, body-events-dormant), rows(pane.Chart2, dormant), rows(pane.Events, events))
	return stack(out, left, 1, right, rows(pane.Knobs, knobs), rows(d.scores, scores), rows(pane.Phase, phase))
}

// fullPlaces are three columns with everything that is measured during a run.
func fullPlaces(d division) []place {
	w, h := d.w, d.h
	body := h - 2
	right := min(58, max(48, w*34/100))
	middle := (w - right) * 42 / 100
	left := w - right - middle

	events := max(8, body*26/100)
	second := max(9, body*30/100)
	out := stack(nil, 0, 1, left, rows(pane.Chart1, body-events-second), rows(pane.Chart2, second), rows(pane.Events, events))
	third := max(8, body*26/100)
	system := 6
	out = stack(out, left, 1, middle, rows(pane.Chart3, third), rows(pane.Chart4, third),
		rows(pane.Map, body-2*third-system), rows(pane.System, system))
	scores, generator, phase := 8, 8, 6
	if d.fan {
		d.scores = pane.Fan
		scores, generator, phase = 18, 0, 0
	} else if d.scores == pane.Generator || d.scores == pane.Agent && !d.imagines {
		scores, generator = scores+generator, 0
	}
	return stack(out, left+middle, 1, right, rows(pane.Knobs, body-scores-generator-phase),
		rows(d.scores, scores), rows(pane.Generator, generator), rows(pane.Phase, phase))
}

// presentPlaces are one chart, a few sentences and one panel.
func presentPlaces(d division) []place {
	body := d.h - 2
	panel, sentence := max(7, body*30/100), 11
	if d.w < 136 || body < 34 { // the loop is two lines there
		panel, sentence = max(6, body*26/100), 7
	}
	banner := 0
	switch {
	case d.projected && (d.w < 120 || body < 34):
		banner, panel, sentence = 5, 5, 5
	case d.projected:
		banner, panel = 8, max(6, panel-4)
	}
	return stack(nil, 0, 1, d.w, rows(pane.Banner, banner), rows(d.chart, body-banner-panel-sentence), rows(pane.Sentence, sentence), rows(d.panel, panel))
}

// ruledPlaces are those of boxedPlaces without boxes; every pane has one line of title. The column
// between left and right holds the rule.
func ruledPlaces(d division) []place {
	w, h := d.w, d.h
	right := max(27, w*34/100)
	left := w - right - 2
	events := max(4, h*18/100)
	body := h - 2 - events
	dormant := body * 42 / 100
	phase, scores := 4, 3
	if body >= 24 {
		scores = 6
	}
	knobs := body - phase - scores
	return []place{
		{pane.Chart1, 0, 1, left, body - dormant},
		{pane.Chart2, 0, 1 + body - dormant, left, dormant},
		{pane.Events, 0, 1 + body, w, events},
		{pane.Knobs, left + 2, 1, right, knobs},
		{d.scores, left + 2, 1 + knobs, right, scores},
		{pane.Phase, left + 2, 1 + knobs + scores, right, phase},
	}
}

// visible says whether the layout shows a pane.
func (l layout) visible(id pane.ID) bool {
	_, ok := l.placeOf(id)
	return ok
}

// placeOf is the place of a pane.
func (l layout) placeOf(id pane.ID) (place, bool) {
	for _, p := range l.places {
		if p.id == id {
			return p, true
		}
	}
	return place{}, false
}

// under is the pane at a column and row of the screen.
func (l layout) under(x, y int) (place, bool) {
	for _, p := range l.places {
		if x >= p.x && x < p.x+p.w && y >= p.y && y < p.y+p.h {
			return p, true
		}
	}
	return place{}, false
}
