// Package pane is the contract between a screen and its parts: what a pane is (Pane), what it may
// ask of the screen (Screen), what it knows of the run (Run), and the keys, commands, dialogs and
// text entries that it brings along. The panes themselves are packages below this one; none imports
// another.
package pane

import (
	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/tui/topic"
)

// ID names a pane in commands, keys and tabs.
type ID string

// The panes.
const (
	Knobs     ID = "knobs"
	Chart1    ID = "chart1"
	Chart2    ID = "chart2"
	Scores    ID = "F"
	Phase     ID = "phase"
	Generator ID = "generator"
	Map       ID = "map"
	Events    ID = "events"
	System    ID = "system"
	Chart3    ID = "chart3"
	Chart4    ID = "chart4"
	Losses    ID = "losses"
	Agent     ID = "agent"
	Dreams    ID = "dreams"
	Runs      ID = "runs"
	Fan       ID = "fan"
	WhatIfs   ID = "what-if"
	Sentence  ID = "sentence"

	Generations ID = "generations"
	Banner      ID = "banner"
)

// Pane is one part of the screen.
type Pane interface {
	// ID names the pane in commands and keys.
	ID() ID
	// Tab is its name on the tab bar.
	Tab() string
	// Title is the text in the border of a pane of w columns: its name on the left and a note on
	// the right, as far as there is room.
	Title(w int) (title, note string)
	// Body is the pane's content, at most h lines of w columns. It must not change anything that
	// another pane shows.
	Body(w, h int) []string
	// Keys work while the pane is in focus.
	Keys() []Binding
	// DependsOn are the topics that Body and Title show.
	DependsOn() []topic.Topic
}

// The interfaces that a pane may also implement.
type (
	// Watcher sees every event of the run, in order.
	Watcher interface{ Event(e event.Event) }
	// Poller is called after each poll of the run; visible says whether the layout shows the pane.
	Poller interface{ Poll(visible bool) }
	// Scroller takes the wheel of the mouse: -1 is up.
	Scroller interface{ Scroll(by int) tea.Cmd }
	// Clicker takes a click on the pane in focus, at column x of w.
	Clicker interface{ Click(x, w int) }
	// Commander has commands of the palette that take an argument.
	Commander interface{ Verbs() []Verb }
	// Definer explains the numbers that the pane shows, for the help.
	Definer interface{ Definitions() []Definition }
)

// Definition says what a quantity on the screen is and where it comes from. Its numbers stand
// beside the words of its name, or beside the words in Shown.
type Definition struct {
	Name, Text string
	Shown      []string
}
