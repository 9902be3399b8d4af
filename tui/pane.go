package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
)

// paneID names a pane in commands, keys and tabs.
type paneID string

// The panes.
const (
	paneKnobs     paneID = "knobs"
	paneChart1    paneID = "chart1"
	paneChart2    paneID = "chart2"
	paneScores    paneID = "F"
	panePhase     paneID = "phase"
	paneGenerator paneID = "generator"
	paneMap       paneID = "map"
	paneEvents    paneID = "events"
	paneSystem    paneID = "system"
	paneChart3    paneID = "chart3"
	paneChart4    paneID = "chart4"
	paneLosses    paneID = "losses"
	paneAgent     paneID = "agent"
	paneRuns      paneID = "runs"
	paneSentence  paneID = "sentence"
)

// pane is one part of the screen.
type pane interface {
	// ID names the pane in commands and keys.
	ID() paneID
	// Tab is its name on the tab bar.
	Tab() string
	// Title is what its border says, in a pane of w columns: on the left its name, on
	// the right a note, as far as there is room.
	Title(w int) (title, note string)
	// Body is its inside, at most h lines of w columns. It changes nothing that another
	// pane shows.
	Body(w, h int) []string
	// Keys work while the pane is in focus.
	Keys() []binding
	// DependsOn are the topics that Body and Title show.
	DependsOn() []topic
}

// What a pane may also be.
type (
	// watcher sees every event of the run, in order.
	watcher interface{ Event(e event.Event) }
	// poller is called after each look at the run; visible says whether the layout shows
	// the pane.
	poller interface{ Poll(visible bool) }
	// scroller takes the wheel of the mouse: -1 is up.
	scroller interface{ Scroll(by int) tea.Cmd }
	// clicker takes a click on the pane in focus, at column x of its w.
	clicker interface{ Click(x, w int) }
	// commander has commands of the palette that take an argument.
	commander interface{ Verbs() []verb }
	// definer explains the numbers that the pane shows, for the help.
	definer interface{ Definitions() []definition }
)

// definition says what a quantity on the screen is and where it comes from. Its numbers
// stand beside the words of its name, or beside those in shown.
type definition struct {
	name, text string
	shown      []string
}
