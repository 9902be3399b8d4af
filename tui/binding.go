package tui

import (
	"slices"
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
	action func() tea.Cmd
}

// runKind says which runs a key is about.
type runKind int

const (
	everyRun runKind = iota
	liveRun          // one that can still be steered
	replayed         // one of the past
	pausable         // one that goes on, or is played
)

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
	return b.works(pane) && slices.Contains(b.keys, key)
}

func (b binding) works(pane paneID) bool { return overlap(b.panes, []paneID{pane}) }

// title is how the help shows the keys.
func (b binding) title() string {
	if b.label != "" {
		return b.label
	}
	return strings.Join(b.keys, " ")
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

// verb is a command of the palette that takes an argument; commands without one are
// the bindings of the keys table.
type verb struct {
	name, about string
	arguments   func() []string // to complete with; nil: free text
	run         func(argument string) error
}
