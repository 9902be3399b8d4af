package tui

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/tui/pane"
)

// keysTable lists every key; the footer shows them in this order while they fit. A key that several
// panes share is one binding.
func (m *Model) keysTable() []pane.Binding {
	keys := m.runKeys()
	at := map[string]int{}
	for _, p := range m.panes {
		for _, b := range p.Keys() {
			i, known := at[b.Name]
			if !known {
				i = len(keys)
				at[b.Name] = i
				keys = append(keys, b)
			}
			keys[i].Panes = append(keys[i].Panes, p.ID())
		}
	}
	return append(keys, m.screenKeys()...)
}

// runKeys act on the run, whichever pane is in focus.
func (m *Model) runKeys() []pane.Binding {
	s := m.steering
	return []pane.Binding{
		{Name: "pause", For: pane.ToChange, Of: pane.Pausable, Keys: []string{" ", "p"}, Label: "space p", Hint: "space", Does: "pause", Help: "pause the training after the running slice, or resume it", Action: s.TogglePause},
		{Name: "park", For: pane.ToChange, Keys: []string{"P"}, Help: "park: save the run and give the GPU's memory back for others; P again takes it and goes on", Action: s.TogglePark},
		{Name: "undo", For: pane.ToChange, Of: pane.LiveRun, Keys: []string{"z"}, Does: "undo", Help: "set the knob changed last back to its old value, as a new change; the weights stay as they are; a planned change is taken off the schedule", Action: s.Undo},
		{Name: "redo", For: pane.ToChange, Keys: []string{"Z"}, Help: "make the change that was undone last once more, as a new change", Action: s.Redo},
		{Name: "inspect", Keys: []string{"i"}, Help: "put the cursor on the newest measurement, or take it away", Action: m.charts.ToggleInspect},
		{Name: "follow", Keys: []string{"g"}, Help: "show everything and follow the newest measurement; in the events, back to the newest", Action: m.follow},
	}
}

// screenKeys act on the screen and on what opens over it.
func (m *Model) screenKeys() []pane.Binding {
	keys := []pane.Binding{
		{Name: "next-pane", Keys: []string{"tab"}, Does: "pane", Help: "move the focus to the next pane", Action: m.focusNext},
		{Name: "previous-pane", Keys: []string{"shift+tab"}, Help: "move the focus to the previous pane", Action: m.focusPrevious},
		{Name: "zoom-pane", Keys: []string{"+"}, Help: "give the whole screen to the pane in focus, or give it back", Action: m.toggleZoom},
		{Name: "layout", Keys: []string{"L"}, Does: "layout", Help: "focus (what matters), full (everything), present (one chart, the loop of the run and its state in words, one panel)", Action: m.nextView},
		{Name: "agent", Keys: []string{"v"}, Help: "the agent: the task as it stands, actions, Q and F; again to go back; with COLORTERM=truecolor its picture is smooth", Action: m.toggle(pane.Agent)},
		{Name: "dreams", Keys: []string{"t"}, Help: "truth: synthetic rows beside what the task makes of their s and a, as poses and number by number, or, in a run from pixels, beside the real frames nearest to them; again to go back", Action: m.toggle(pane.Dreams)},
		{Name: "what-if", For: pane.ToCompare, Keys: []string{"w"}, Help: "what if the agent had other rows to learn from: train it on beside the run, from a checkpoint of now, with real, unprioritized and prioritized rows; again to go back", Action: m.toggle(pane.WhatIfs)},
		{Name: "earlier", Of: pane.Replayed, Keys: []string{"<"}, Hint: "< >", Does: "back, forth", Help: "in a replay: back by a twentieth of the run", Action: m.player.back},
		{Name: "later", Keys: []string{">"}, Help: "in a replay: forth by a twentieth of the run", Action: m.player.forth},
		{Name: "slower", Of: pane.Replayed, Keys: []string{"("}, Hint: "( )", Does: "slower, faster", Help: "in a replay: half the speed", Action: m.player.slower},
		{Name: "faster", Keys: []string{")"}, Help: "in a replay: twice the speed", Action: m.player.faster},
		{Name: "analyse", For: pane.ToCompare, Keys: []string{"a"}, Help: "have the run looked at as it is: F, dynamics error beside a Gaussian's, overlap of guided and free generations; training waits some seconds, keys do not", Action: m.steering.Analyse},
		{Name: "checkpoint", For: pane.ToChange, Keys: []string{"c"}, Help: "save the run where it is, to go on from there", Action: m.steering.Checkpoint},
		{Name: "note", For: pane.ToChange, Of: pane.LiveRun, Keys: []string{"n"}, Does: "note", Help: "write a line into the journal, and a marker on the charts", Action: m.steering.OpenNote},
		{Name: "palette", For: pane.ToChange, Keys: []string{":"}, Does: "command", Help: "type a command: everything that keys do, and guidance 3, ω=3! @20000, show alpha, … ; tab completes, up and down choose", Action: m.palette.openPalette},
		{Name: "fork", For: pane.ToCompare, Of: pane.LiveRun, Keys: []string{"f"}, Does: "fork", Help: "a fan of futures: forks of this run, half of them with what is staged, half without, grow on the charts, and the pane fan says whether they differ", Action: m.fans.OpenFork},
		{Name: "placebo", For: pane.ToCompare, Keys: []string{"F"}, Help: "a fan in which nothing is changed but the random numbers: a test of the test, which must see nothing", Action: m.fans.OpenPlacebo},
		{Name: "ground", For: pane.ToCompare, Of: pane.LiveRun, Keys: []string{"G"}, Does: "ground", Help: "a fall or a slip: 64 copies of the agent make one update each and play an episode, in seconds, while the run goes on; a box says what that makes of the last return, esc leaves it", Action: m.ground.Ask},
		{Name: "lessons", For: pane.ToCompare, Keys: []string{"T"}, Does: "lessons", Help: "lessons that use this run: they say, set, ask for a prediction, and reveal what came; enter goes on, 1 to 9 answers, esc leaves", Action: m.lessons.OpenLessons},
		{Name: "mouse", Keys: []string{"M"}, Help: "take the mouse (click: focus and inspect, wheel: scroll and zoom), or give it back to the terminal for selecting text", Action: m.toggleMouse},
		{Name: "redraw", Keys: []string{"ctrl+l"}, Help: "draw the whole screen again", Action: m.redraw},
		{Name: "back", For: pane.ToLeave, Keys: []string{"esc", "backspace"}, Label: "esc backspace", Help: "one layer back: inspection, staged values, zoom, filter", Action: m.back},
		{Name: "drive", For: pane.ToChange, Keys: []string{"D"}, Help: "take over from the screen that drives, where several show the same run", Action: m.TakeControl},
		{Name: "help", Keys: []string{"?", "f1"}, Label: "? f1", Hint: "?", Does: "help", Help: "the keys, and where every number on the screen comes from", Action: m.help.Show},
		{Name: "quit", For: pane.ToLeave, Keys: []string{"q"}, Does: "quit", Help: "leave: the run goes on in a process of its own and the shell gets its terminal back (so does ctrl+z, unless a lesson has set knobs), or stop and save", Action: m.leaving.openQuit},
	}
	for i, p := range m.panes[:numberedPanes] {
		id := p.ID()
		keys = append(keys, pane.Binding{Name: goTo(id), Keys: []string{fmt.Sprint(i + 1)}, Help: "to the pane " + string(id),
			Action: func() tea.Cmd { return m.GoTo(id) }})
	}
	return append(keys, pane.Binding{Name: goTo(pane.Fan), Keys: []string{"0"}, Help: "to the pane fan: what forks say", Action: func() tea.Cmd { return m.GoTo(pane.Fan) }})
}

// numberedPanes are the first panes of the table, which have the keys 1 to 9.
const numberedPanes = 9

// reserved are keys that terminals and their multiplexers keep: screen and tmux their prefix, the
// line discipline its flow control, the shell its suspend key.
var reserved = []string{"ctrl+a", "ctrl+b", "ctrl+q", "ctrl+s", "ctrl+z"}

// keyNames are the names of keys that do not write a character.
var keyNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for t := tea.KeyType(-256); t < 128; t++ {
		if t != tea.KeyRunes {
			names[tea.KeyMsg{Type: t}.String()] = true
		}
	}
	delete(names, "")
	return names
})

// isKey says whether a terminal can send a key of that name: a character, or a name like f2, up, ctrl+n,
// shift+tab, also with alt+ in front.
func isKey(name string) bool {
	key := strings.TrimPrefix(name, "alt+")
	return utf8.RuneCountInString(key) == 1 || keyNames()[key]
}

// rebind gives commands other keys; a command that other does not name keeps its keys.
func rebind(table []pane.Binding, other map[string][]string) ([]pane.Binding, error) {
	for name, keys := range other {
		for i, k := range keys {
			if k == "space" { // as it is written on the screen
				keys[i] = " "
			}
			if !isKey(keys[i]) {
				return nil, fmt.Errorf("keys: %s cannot be %q: no key has that name; want a character, or for example f2, ctrl+n, alt+x, up, space", name, k)
			}
		}
		at := -1
		for i := range table {
			if table[i].Name == name {
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
				taken, moved := other[b.Name]
				if !moved {
					taken = b.Keys
				}
				if i != at && slices.Contains(taken, k) && pane.Overlap(b.Panes, table[at].Panes) {
					return nil, fmt.Errorf("keys: %s cannot be %s: that is %s", name, k, b.Name)
				}
			}
		}
		table[at].Keys, table[at].Label, table[at].Hint = keys, "", ""
	}
	return table, nil
}
