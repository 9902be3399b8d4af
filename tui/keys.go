package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// binding is one line of the keys table: it drives the dispatch, the footer, the
// help and the palette, so that no key works without being explained.
type binding struct {
	name   string   // of the command, in the palette and in the settings
	keys   []string // as Bubble Tea names them
	label  string   // as the help shows them, where the keys' own names do not do
	hint   string   // in the footer, where it differs from the label
	does   string   // short, for the footer; "" keeps it out
	help   string   // one sentence
	panes  []paneID // where it works; nil: everywhere
	of     runKind  // which runs it is about; the footer of others leaves it out
	action func(m *Model) tea.Cmd
}

// runKind says which runs a key is about.
type runKind int

const (
	everyRun runKind = iota
	liveRun          // one that can still be steered
	replayed         // one of the past
	pausable         // one that goes on, or is played
)

// keysTable lists every key; the footer shows them in this order while they fit.
func keysTable() []binding {
	return append(append(knobKeys(), chartKeys()...), screenKeys()...)
}

func knobKeys() []binding {
	knobs := []paneID{paneKnobs}
	return []binding{
		{name: "pause", of: pausable, keys: []string{" ", "p"}, label: "space p", hint: "space", does: "pause", help: "pause the training after the running slice, or resume it", action: (*Model).togglePause},
		{name: "park", keys: []string{"P"}, help: "park: save the run and give the GPU's memory back for others; P again takes it and goes on", action: (*Model).togglePark},
		{name: "up", keys: []string{"up", "k"}, label: "up k", help: "the knob above", panes: knobs, action: (*Model).knobUp},
		{name: "down", keys: []string{"down", "j"}, label: "down j", help: "the knob below", panes: knobs, action: (*Model).knobDown},
		{name: "more", of: liveRun, keys: []string{"right", "l"}, label: "right l", hint: "up down left right", does: "change", help: "stage the next value of the knob; nothing is sent yet", panes: knobs, action: (*Model).knobMore},
		{name: "less", keys: []string{"left", "h"}, label: "left h", help: "stage the previous value of the knob", panes: knobs, action: (*Model).knobLess},
		{name: "edit", keys: []string{"e"}, help: "type a value for the knob", panes: knobs, action: (*Model).knobEdit},
		{name: "apply", of: liveRun, keys: []string{"enter"}, does: "apply", help: "send the staged values; a change that needs a refit or new samples is made now if that takes under 5 s, otherwise it asks", panes: knobs, action: (*Model).applyStaged},
		{name: "now", of: liveRun, keys: []string{"!"}, does: "now", help: "send the staged values and redo at once what they need (samples, or score, fit and samples); asks if that takes over 5 s", panes: knobs, action: (*Model).applyNow},
		{name: "at", of: liveRun, keys: []string{"@"}, does: "at step", help: "have the staged values applied after an env step to come", panes: knobs, action: (*Model).applyAt},
		{name: "drop", keys: []string{"delete"}, help: "drop the staged values", panes: knobs, action: (*Model).dropStaged},
		{name: "undo", of: liveRun, keys: []string{"z"}, does: "undo", help: "set the knob changed last back to its old value, as a new change; the weights stay as they are", action: (*Model).undo},
		{name: "redo", keys: []string{"Z"}, help: "make the change that was undone last once more, as a new change", action: (*Model).redo},
	}
}

func chartKeys() []binding {
	return []binding{
		{name: "inspect-left", keys: []string{"left", "h"}, label: "left h", help: "the measurement before: a cursor at the same step of every chart, its numbers in the borders", panes: chartPanes, action: (*Model).inspectLeft},
		{name: "inspect-right", keys: []string{"right", "l"}, label: "right l", hint: "left right", does: "inspect", help: "the measurement after", panes: chartPanes, action: (*Model).inspectRight},
		{name: "inspect", keys: []string{"i"}, help: "put the cursor on the newest measurement, or take it away", action: (*Model).toggleInspect},
		{name: "marker-next", keys: []string{"J"}, does: "next marker", help: "the cursor to the next marker: where a change came in force, or a note", panes: chartPanes, action: (*Model).markerNext},
		{name: "marker-previous", keys: []string{"K"}, help: "the cursor to the marker before", panes: chartPanes, action: (*Model).markerPrevious},
		{name: "quantity-next", keys: []string{"]"}, hint: "[ ]", does: "quantity", help: "show the next quantity in this chart: return, dormant ratio, losses, Q, α, F, speed, …", panes: chartPanes, action: (*Model).quantityNext},
		{name: "quantity-previous", keys: []string{"["}, help: "show the quantity before", panes: chartPanes, action: (*Model).quantityPrevious},
		{name: "closer", keys: []string{"=", "up", "k"}, label: "= up k", hint: "= -", does: "zoom", help: "half the horizontal range of all charts, around the cursor or at the newest measurement", panes: chartPanes, action: (*Model).zoomIn},
		{name: "farther", keys: []string{"-", "down", "j"}, label: "- down j", help: "twice the range; beyond what was measured, the whole run to come", panes: chartPanes, action: (*Model).zoomOut},
		{name: "pan-left", keys: []string{",", "shift+left"}, label: ", shift+left", hint: ", .", does: "pan", help: "earlier", panes: chartPanes, action: (*Model).panLeft},
		{name: "pan-right", keys: []string{".", "shift+right"}, label: ". shift+right", help: "later", panes: chartPanes, action: (*Model).panRight},
		{name: "follow", keys: []string{"g"}, help: "show everything and follow the newest measurement; in the events, back to the newest", action: (*Model).follow},
		{name: "axis", keys: []string{"x"}, does: "x axis", help: "what the charts count: env steps, critic updates or wall time", panes: chartPanes, action: (*Model).nextAxis},
		{name: "smooth", keys: []string{"s"}, help: "smoothing of the lines: none, 0.6, 0.9; what was measured stands as dots beside them, and the title says it", panes: chartPanes, action: (*Model).nextSmoothing},
		{name: "braille", keys: []string{"b"}, help: "draw the lines of all charts with Braille dots, two by four a character, or with line characters again", panes: chartPanes, action: (*Model).nextChartStyle},
		{name: "log", keys: []string{"y"}, help: "logarithmic vertical axis for this quantity, or linear again", panes: chartPanes, action: (*Model).toggleLog},
	}
}

func screenKeys() []binding {
	scrolled := []paneID{paneEvents}
	keys := []binding{
		{name: "newer", keys: []string{"up", "k"}, label: "up k", help: "newer events", panes: scrolled, action: (*Model).eventsUp},
		{name: "older", keys: []string{"down", "j"}, label: "down j", help: "older events", panes: scrolled, action: (*Model).eventsDown},
		{name: "page-newer", keys: []string{"pgup"}, help: "a page of newer events", panes: scrolled, action: (*Model).eventsPageUp},
		{name: "page-older", keys: []string{"pgdown"}, help: "a page of older events", panes: scrolled, action: (*Model).eventsPageDown},
		{name: "map-x-next", keys: []string{"right", "l"}, label: "right l", hint: "left right", does: "x dimension", help: "the next dimension of the observation along x", panes: []paneID{paneMap}, action: (*Model).mapXNext},
		{name: "map-x-previous", keys: []string{"left", "h"}, label: "left h", help: "the dimension before", panes: []paneID{paneMap}, action: (*Model).mapXPrevious},
		{name: "map-y-next", keys: []string{"up", "k"}, label: "up k", hint: "up down", does: "y dimension", help: "the next dimension along y", panes: []paneID{paneMap}, action: (*Model).mapYNext},
		{name: "map-y-previous", keys: []string{"down", "j"}, label: "down j", help: "the dimension before", panes: []paneID{paneMap}, action: (*Model).mapYPrevious},
		{name: "map-kind", keys: []string{"m", "enter"}, label: "m enter", hint: "m", does: "next map", help: "what the map shows first: D_real, D_syn, their difference, mean F", panes: []paneID{paneMap}, action: (*Model).mapNextKind},
		{name: "filter", keys: []string{"/"}, does: "filter", help: "show only the events that contain a text or are of a kind (knob, eval, refit, note, …)", panes: scrolled, action: (*Model).openFilter},
		{name: "next-pane", keys: []string{"tab"}, does: "pane", help: "move the focus to the next pane", action: (*Model).focusNext},
		{name: "previous-pane", keys: []string{"shift+tab"}, help: "move the focus to the previous pane", action: (*Model).focusPrevious},
		{name: "zoom-pane", keys: []string{"+"}, help: "give the whole screen to the pane in focus, or give it back", action: (*Model).toggleZoom},
		{name: "layout", keys: []string{"L"}, does: "layout", help: "focus (what matters), full (everything), present (one chart, one sentence, one panel)", action: (*Model).nextView},
		{name: "agent", keys: []string{"v"}, help: "the agent: the task as it stands, actions, Q and F; again to go back", action: (*Model).toggleAgent},
		{name: "earlier", of: replayed, keys: []string{"<"}, hint: "< >", does: "back, forth", help: "in a replay: back by a twentieth of the run", action: (*Model).scrubBack},
		{name: "later", keys: []string{">"}, help: "in a replay: forth by a twentieth of the run", action: (*Model).scrubForth},
		{name: "slower", of: replayed, keys: []string{"("}, hint: "( )", does: "slower, faster", help: "in a replay: half the speed", action: (*Model).slower},
		{name: "faster", keys: []string{")"}, help: "in a replay: twice the speed", action: (*Model).faster},
		{name: "analyse", keys: []string{"a"}, help: "have the run looked at as it is: F, dynamics error beside a Gaussian's, overlap of guided and free generations; training waits some seconds, keys do not", action: (*Model).analyse},
		{name: "checkpoint", keys: []string{"c"}, help: "save the run where it is, to go on from there", action: (*Model).checkpoint},
		{name: "note", of: liveRun, keys: []string{"n"}, does: "note", help: "write a line into the journal, and a marker on the charts", action: (*Model).openNote},
		{name: "palette", keys: []string{":"}, does: "command", help: "type a command: everything that keys do, and guidance 3, ω=3! @20000, show alpha, … ; tab completes, up and down choose", action: (*Model).openPalette},
		{name: "fork", of: liveRun, keys: []string{"f"}, does: "fork", help: "children of this run, in pairs: with what is staged and without; their difference is in the pane runs", action: (*Model).openFork},
		{name: "placebo", keys: []string{"F"}, help: "forks in which nothing is changed but the random streams: the band of what happens by itself", action: (*Model).openPlacebo},
		{name: "lessons", of: liveRun, keys: []string{"T"}, does: "lessons", help: "lessons that use this run: they say, set, ask for a prediction, and reveal what came; enter goes on, 1 to 9 answers, esc leaves", action: (*Model).openLessons},
		{name: "mouse", keys: []string{"M"}, help: "take the mouse (click: focus and inspect, wheel: scroll and zoom), or give it back to the terminal for selecting text", action: (*Model).toggleMouse},
		{name: "redraw", keys: []string{"ctrl+l"}, help: "draw the whole screen again", action: (*Model).redraw},
		{name: "back", keys: []string{"esc", "backspace"}, label: "esc backspace", help: "one layer back: inspection, staged values, zoom, filter", action: (*Model).back},
		{name: "drive", keys: []string{"D"}, help: "take over from the screen that drives, where several show the same run", action: (*Model).takeSeat},
		{name: "help", keys: []string{"?", "f1"}, label: "? f1", hint: "?", does: "help", help: "the keys, and where every number on the screen comes from", action: (*Model).openHelp},
		{name: "quit", keys: []string{"q"}, does: "quit", help: "leave: the run goes on in a process of its own and the shell gets its terminal back (ctrl+z does that at once), or stop and save", action: (*Model).openQuit},
	}
	for i, id := range numbered {
		keys = append(keys, binding{name: "go-" + paneNames[id], keys: []string{fmt.Sprint(i + 1)}, help: "to the pane " + paneNames[id],
			action: func(m *Model) tea.Cmd { return m.goTo(id) }})
	}
	return keys
}

// numbered are the panes of the number keys 1 to 9.
var numbered = []paneID{paneKnobs, paneChart1, paneChart2, paneScores, panePhase, paneGenerator, paneMap, paneEvents, paneSystem}

// reserved are keys that terminals and their multiplexers keep: screen and tmux
// their prefix, the line its flow control, the shell its suspension.
var reserved = []string{"ctrl+a", "ctrl+b", "ctrl+q", "ctrl+s", "ctrl+z"}

// rebind gives commands other keys; the keys of a command that is not named stay.
func rebind(table []binding, other map[string][]string) ([]binding, error) {
	for name, keys := range other {
		at := -1
		for i := range table {
			if table[i].name == name {
				at = i
			}
		}
		if at < 0 {
			return nil, fmt.Errorf("keys: there is no command %q: the help lists them", name)
		}
		for _, k := range keys {
			if contains(reserved, k) || k == "ctrl+c" {
				return nil, fmt.Errorf("keys: %s cannot be %s: terminals keep that key", name, k)
			}
			for i, b := range table {
				if i != at && contains(b.keys, k) && overlap(b.panes, table[at].panes) && len(other[b.name]) == 0 {
					return nil, fmt.Errorf("keys: %s cannot be %s: that is %s", name, k, b.name)
				}
			}
		}
		table[at].keys, table[at].label, table[at].hint = keys, "", ""
	}
	return table, nil
}

// overlap says whether there is a pane in which both work.
func overlap(a, b []paneID) bool {
	if a == nil || b == nil {
		return true
	}
	for _, p := range a {
		for _, q := range b {
			if p == q {
				return true
			}
		}
	}
	return false
}

// matches says whether the binding answers key while pane is in focus.
func (b binding) matches(key string, pane paneID) bool {
	return b.works(pane) && contains(b.keys, key)
}

func (b binding) works(pane paneID) bool { return overlap(b.panes, []paneID{pane}) }

// title is how the help shows the keys.
func (b binding) title() string {
	if b.label != "" {
		return b.label
	}
	return strings.Join(b.keys, " ")
}

// footer lists the keys of the pane in focus as far as they fit; help and quit
// always do.
func (m *Model) footer(w int) string {
	if m.entry != nil && !m.entry.inKnobs {
		return m.entry.line(m.theme, w)
	}
	if m.told != "" {
		return m.theme.fit(m.theme.accent.on(m.theme.glyphs.cursor+" ")+m.told, w)
	}
	if m.driver != "" {
		return m.watchingLine(w)
	}
	var hints, last []string
	for _, own := range []bool{true, false} { // those of the pane first
		for _, b := range m.keys {
			if b.does == "" || !b.works(m.focus) || (b.panes != nil) != own || b.of == m.otherKind() || b.steers() && m.ended() && !m.options.Replay {
				continue
			}
			hint := m.theme.key.on(m.theme.keyLabel(b.short())) + " " + m.theme.dim.on(m.doing(b))
			if b.name == "help" || b.name == "quit" {
				last = append(last, hint)
			} else {
				hints = append(hints, hint)
			}
		}
	}
	end := join(w, "  ", last...)
	start := join(w-width(end)-2, "  ", hints...)
	return m.theme.spread(start, end, w)
}

func (b binding) short() string {
	if b.hint != "" {
		return b.hint
	}
	if b.label == "" && len(b.keys) > 0 {
		return b.keys[0]
	}
	return b.title()
}

// steers says whether the binding does something only while a run goes on.
func (b binding) steers() bool { return b.of == liveRun || b.of == pausable }

// otherKind is the kind of run that this one is not.
func (m *Model) otherKind() runKind {
	if m.options.Replay {
		return liveRun
	}
	return replayed
}

// doing is what a key does now.
func (m *Model) doing(b binding) string {
	if b.name == "pause" && m.paused() {
		return "resume"
	}
	return b.does
}

// keyLabel draws the arrows of a label where the glyphs have them.
func (t *theme) keyLabel(label string) string {
	switch label {
	case "left right":
		return t.glyphs.left + t.glyphs.right
	case "up down":
		return t.glyphs.up + t.glyphs.down
	case "up down left right":
		return t.keyLabel("up down") + t.keyLabel("left right")
	}
	words := strings.Fields(label)
	for i, w := range words {
		switch w {
		case "up":
			words[i] = t.glyphs.up
		case "down":
			words[i] = t.glyphs.down
		case "left":
			words[i] = t.glyphs.left
		case "right":
			words[i] = t.glyphs.right
		}
	}
	return strings.Join(words, " ")
}
