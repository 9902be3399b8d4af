package tui

import (
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"
)

// keysTable lists every key; the footer shows them in this order while they fit. A key
// that several panes have is one binding.
func (m *Model) keysTable() []binding {
	keys := m.runKeys()
	at := map[string]int{}
	for _, p := range m.panes {
		for _, b := range p.Keys() {
			i, known := at[b.name]
			if !known {
				i = len(keys)
				at[b.name] = i
				keys = append(keys, b)
			}
			keys[i].panes = append(keys[i].panes, p.ID())
		}
	}
	return append(keys, m.screenKeys()...)
}

// runKeys are about the run, whatever pane is in focus.
func (m *Model) runKeys() []binding {
	s := m.steering
	return []binding{
		{name: "pause", of: pausable, keys: []string{" ", "p"}, label: "space p", hint: "space", does: "pause", help: "pause the training after the running slice, or resume it", action: s.togglePause},
		{name: "park", keys: []string{"P"}, help: "park: save the run and give the GPU's memory back for others; P again takes it and goes on", action: s.togglePark},
		{name: "undo", of: liveRun, keys: []string{"z"}, does: "undo", help: "set the knob changed last back to its old value, as a new change; the weights stay as they are", action: s.undo},
		{name: "redo", keys: []string{"Z"}, help: "make the change that was undone last once more, as a new change", action: s.redo},
		{name: "inspect", keys: []string{"i"}, help: "put the cursor on the newest measurement, or take it away", action: m.charts.toggleInspect},
		{name: "follow", keys: []string{"g"}, help: "show everything and follow the newest measurement; in the events, back to the newest", action: m.follow},
	}
}

// screenKeys are about the screen, and what opens over it.
func (m *Model) screenKeys() []binding {
	keys := []binding{
		{name: "next-pane", keys: []string{"tab"}, does: "pane", help: "move the focus to the next pane", action: m.focusNext},
		{name: "previous-pane", keys: []string{"shift+tab"}, help: "move the focus to the previous pane", action: m.focusPrevious},
		{name: "zoom-pane", keys: []string{"+"}, help: "give the whole screen to the pane in focus, or give it back", action: m.toggleZoom},
		{name: "layout", keys: []string{"L"}, does: "layout", help: "focus (what matters), full (everything), present (one chart, one sentence, one panel)", action: m.nextView},
		{name: "agent", keys: []string{"v"}, help: "the agent: the task as it stands, actions, Q and F; again to go back", action: m.toggleAgent},
		{name: "earlier", of: replayed, keys: []string{"<"}, hint: "< >", does: "back, forth", help: "in a replay: back by a twentieth of the run", action: m.player.back},
		{name: "later", keys: []string{">"}, help: "in a replay: forth by a twentieth of the run", action: m.player.forth},
		{name: "slower", of: replayed, keys: []string{"("}, hint: "( )", does: "slower, faster", help: "in a replay: half the speed", action: m.player.slower},
		{name: "faster", keys: []string{")"}, help: "in a replay: twice the speed", action: m.player.faster},
		{name: "analyse", keys: []string{"a"}, help: "have the run looked at as it is: F, dynamics error beside a Gaussian's, overlap of guided and free generations; training waits some seconds, keys do not", action: m.steering.analyse},
		{name: "checkpoint", keys: []string{"c"}, help: "save the run where it is, to go on from there", action: m.steering.checkpoint},
		{name: "note", of: liveRun, keys: []string{"n"}, does: "note", help: "write a line into the journal, and a marker on the charts", action: m.steering.openNote},
		{name: "palette", keys: []string{":"}, does: "command", help: "type a command: everything that keys do, and guidance 3, ω=3! @20000, show alpha, … ; tab completes, up and down choose", action: m.palette.openPalette},
		{name: "fork", of: liveRun, keys: []string{"f"}, does: "fork", help: "children of this run, in pairs: with what is staged and without; their difference is in the pane runs", action: m.runs.openFork},
		{name: "placebo", keys: []string{"F"}, help: "forks in which nothing is changed but the random streams: the band of what happens by itself", action: m.runs.openPlacebo},
		{name: "lessons", of: liveRun, keys: []string{"T"}, does: "lessons", help: "lessons that use this run: they say, set, ask for a prediction, and reveal what came; enter goes on, 1 to 9 answers, esc leaves", action: m.lessons.openLessons},
		{name: "mouse", keys: []string{"M"}, help: "take the mouse (click: focus and inspect, wheel: scroll and zoom), or give it back to the terminal for selecting text", action: m.toggleMouse},
		{name: "redraw", keys: []string{"ctrl+l"}, help: "draw the whole screen again", action: m.redraw},
		{name: "back", keys: []string{"esc", "backspace"}, label: "esc backspace", help: "one layer back: inspection, staged values, zoom, filter", action: m.back},
		{name: "drive", keys: []string{"D"}, help: "take over from the screen that drives, where several show the same run", action: m.takeSeat},
		{name: "help", keys: []string{"?", "f1"}, label: "? f1", hint: "?", does: "help", help: "the keys, and where every number on the screen comes from", action: m.help.show},
		{name: "quit", keys: []string{"q"}, does: "quit", help: "leave: the run goes on in a process of its own and the shell gets its terminal back (ctrl+z does that at once), or stop and save", action: m.leaving.openQuit},
	}
	for i, p := range m.panes[:numberedPanes] {
		id := p.ID()
		keys = append(keys, binding{name: "go-" + string(id), keys: []string{fmt.Sprint(i + 1)}, help: "to the pane " + string(id),
			action: func() tea.Cmd { return m.goTo(id) }})
	}
	return keys
}

// numberedPanes are the first panes of the table, which have the keys 1 to 9.
const numberedPanes = 9

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
			if slices.Contains(reserved, k) || k == "ctrl+c" {
				return nil, fmt.Errorf("keys: %s cannot be %s: terminals keep that key", name, k)
			}
			for i, b := range table {
				if i != at && slices.Contains(b.keys, k) && overlap(b.panes, table[at].panes) && len(other[b.name]) == 0 {
					return nil, fmt.Errorf("keys: %s cannot be %s: that is %s", name, k, b.name)
				}
			}
		}
		table[at].keys, table[at].label, table[at].hint = keys, "", ""
	}
	return table, nil
}
