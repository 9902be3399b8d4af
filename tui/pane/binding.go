package pane

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// Binding is one line of the keys table: it drives the dispatch, the footer, the
// help and the palette, so that no key works without being explained.
type Binding struct {
	Name   string   // the command's name, in the palette and in the settings
	Keys   []string // as Bubble Tea names them
	Label  string   // the keys as the help shows them, where their own names do not suffice
	Hint   string   // the keys in the footer, where they differ from the label
	Does   string   // the short text for the footer; "" keeps the binding out of the footer
	Help   string   // one sentence
	Panes  []ID     // where it works; nil: everywhere
	Shared bool     // works also from other panes, while one of Panes is shown
	For    Purpose  // of a key that works everywhere: where the help lists it
	Of     RunKind  // the runs that the binding is about; the footer of other runs omits it
	Action func() tea.Cmd
}

// Purpose is what a key is for; the help groups the keys that work everywhere by it.
type Purpose int

// The purposes.
const (
	ToLook Purpose = iota
	ToChange
	ToCompare
	ToLeave
)

// RunKind says which runs a key is about.
type RunKind int

const (
	everyRun RunKind = iota
	LiveRun          // a run that can still be steered
	Replayed         // a run of the past
	Pausable         // a run that goes on, or is played
	OfStates         // a run whose rows are named observations, not made from frames
)

// Overlap says whether two lists of panes have a pane in common; nil means all panes.
func Overlap(a, b []ID) bool {
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

// Matches says whether the binding answers key while pane is in focus.
func (b Binding) Matches(key string, pane ID) bool {
	return b.Works(pane) && slices.Contains(b.Keys, key)
}

// Works says whether the binding works while pane is in focus.
func (b Binding) Works(pane ID) bool { return Overlap(b.Panes, []ID{pane}) }

// Title is how the help shows the keys.
func (b Binding) Title() string {
	if b.Label != "" {
		return b.Label
	}
	return strings.Join(b.Keys, " ")
}

// Short is how the footer shows the keys.
func (b Binding) Short() string {
	if b.Hint != "" {
		return b.Hint
	}
	if b.Label == "" && len(b.Keys) > 0 {
		return b.Keys[0]
	}
	return b.Title()
}

// Steers says whether the binding has an effect only while a run goes on.
func (b Binding) Steers() bool { return b.Of == LiveRun || b.Of == Pausable }

// Verb is a command of the palette that takes an argument; the commands without one are the
// bindings of the keys table.
type Verb struct {
	Name, About string
	Arguments   func() []string // completions of the argument; nil: free text
	Run         func(argument string) error
}
