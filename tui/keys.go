package tui

import tea "github.com/charmbracelet/bubbletea"

// binding is one line of the keys table: it drives the dispatch, the footer and the
// help, so that no key works without being explained.
type binding struct {
	keys   []string // as Bubble Tea names them
	label  string   // as the help shows them
	hint   string   // in the footer, where it differs from the label
	does   string   // short, for the footer; "" keeps it out
	help   string   // one sentence
	panes  []paneID // where it works; nil: everywhere
	action func(m *Model) tea.Cmd
}

// keysTable lists every key; the footer shows them in this order while they fit.
func keysTable() []binding {
	knobs, scrolled := []paneID{paneKnobs}, []paneID{paneEvents}
	return []binding{
		{keys: []string{" "}, label: "space", does: "pause", help: "pause the training after the running slice, or resume it", action: (*Model).togglePause},
		{keys: []string{"tab"}, label: "tab", does: "next pane", help: "move the focus to the next pane", action: (*Model).focusNext},
		{keys: []string{"shift+tab"}, label: "shift+tab", help: "move the focus to the previous pane", action: (*Model).focusPrevious},
		{keys: []string{"up", "k"}, label: "up k", help: "the knob above", panes: knobs, action: (*Model).knobUp},
		{keys: []string{"down", "j"}, label: "down j", help: "the knob below", panes: knobs, action: (*Model).knobDown},
		{keys: []string{"right", "l"}, label: "right l", hint: "left right", does: "change", help: "stage the next value of the knob; nothing is sent yet", panes: knobs, action: (*Model).knobMore},
		{keys: []string{"left", "h"}, label: "left h", help: "stage the previous value of the knob", panes: knobs, action: (*Model).knobLess},
		{keys: []string{"e", "="}, label: "e", help: "type a value for the knob", panes: knobs, action: (*Model).knobEdit},
		{keys: []string{"enter"}, label: "enter", does: "apply", help: "send the staged values; a change that needs a refit or new samples is made now if that takes under 5 s, otherwise it asks", panes: knobs, action: (*Model).applyStaged},
		{keys: []string{"!"}, label: "!", does: "apply now", help: "send the staged values and redo at once what they need (samples, or score, fit and samples)", panes: knobs, action: (*Model).applyNow},
		{keys: []string{"z"}, label: "z", does: "undo", help: "set the knob changed last back to its old value, as a new change; the weights stay as they are", action: (*Model).undo},
		{keys: []string{"up", "k"}, label: "up k", help: "newer events", panes: scrolled, action: (*Model).eventsUp},
		{keys: []string{"down", "j"}, label: "down j", help: "older events", panes: scrolled, action: (*Model).eventsDown},
		{keys: []string{"pgup", "b"}, label: "pgup b", help: "a page of newer events", panes: scrolled, action: (*Model).eventsPageUp},
		{keys: []string{"pgdown", "f"}, label: "pgdown f", help: "a page of older events", panes: scrolled, action: (*Model).eventsPageDown},
		{keys: []string{"g"}, label: "g", does: "follow", help: "back to the newest event, and follow", panes: scrolled, action: (*Model).eventsFollow},
		{keys: []string{"left", "h"}, label: "left h", help: "the measurement before, its numbers in the border", panes: chartPanes, action: (*Model).inspectLeft},
		{keys: []string{"right", "l"}, label: "right l", hint: "left right", does: "inspect", help: "the measurement after, its numbers in the border", panes: chartPanes, action: (*Model).inspectRight},
		{keys: []string{"+"}, label: "+", does: "zoom", help: "give the whole screen to the pane in focus, or give it back", action: (*Model).toggleZoom},
		{keys: []string{"esc"}, label: "esc", help: "one layer back: drop staged values, end zoom and inspection", action: (*Model).back},
		{keys: []string{"?"}, label: "?", does: "help", help: "the keys, and where every number on the screen comes from", action: (*Model).openHelp},
		{keys: []string{"q"}, label: "q", does: "quit", help: "leave: go on training without the screen, or stop and save", action: (*Model).openQuit},
	}
}

var chartPanes = []paneID{paneReturn, paneDormant}

// matches says whether the binding answers key while pane is in focus.
func (b binding) matches(key string, pane paneID) bool {
	if !b.works(pane) {
		return false
	}
	for _, k := range b.keys {
		if k == key {
			return true
		}
	}
	return false
}

func (b binding) works(pane paneID) bool {
	if b.panes == nil {
		return true
	}
	for _, p := range b.panes {
		if p == pane {
			return true
		}
	}
	return false
}

// footer lists the keys of the pane in focus as far as they fit; help and quit
// always do.
func (m *Model) footer(w int) string {
	var hints []string
	var last []string
	for _, b := range m.keys {
		if b.does == "" || !b.works(m.focus) {
			continue
		}
		does := b.does
		if b.label == "space" && m.paused() {
			does = "resume"
		}
		label := b.label
		if b.hint != "" {
			label = b.hint
		}
		hint := m.theme.key.on(m.theme.keyLabel(label)) + " " + m.theme.dim.on(does)
		if b.label == "?" || b.label == "q" {
			last = append(last, hint)
		} else {
			hints = append(hints, hint)
		}
	}
	end := join(w, "  ", last...)
	start := join(w-width(end)-2, "  ", hints...)
	return m.theme.spread(start, end, w)
}

// keyLabel draws the arrows of a label where the glyphs have them.
func (t *theme) keyLabel(label string) string {
	switch label {
	case "left right":
		return t.glyphs.left + t.glyphs.right
	case "up k":
		return t.glyphs.up + " k"
	case "down j":
		return t.glyphs.down + " j"
	case "left h":
		return t.glyphs.left + " h"
	case "right l":
		return t.glyphs.right + " l"
	default:
		return label
	}
}
