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

// topic is something that changes while a screen is open. A pane is drawn again when
// one of its topics has changed.
type topic string

// The topics that several panes share. Every pane has one of its own beside them, by
// its ID, for what its keys change.
const (
	topicSnapshot    topic = "snapshot"    // the newest numbers of the run
	topicLines       topic = "lines"       // the list of events
	topicCurves      topic = "curves"      // a measurement that charts show
	topicChanges     topic = "changes"     // changes of knobs, their stages, and notes
	topicLosses      topic = "losses"      // losses of updates and fits
	topicGenerations topic = "generations" // scores, refits, descriptions of D_syn
	topicStaged      topic = "staged"      // staged values, their preview, a value being typed
	topicCharts      topic = "charts"      // how charts are drawn: range, axis, cursor, quantities
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

// host is what a part of it may ask of the whole.
type host interface {
	// changed says that the frame must be put together again.
	changed()
	// tell puts one line at the foot, until the next key.
	tell(text string)
	// refuse puts one line under the knobs, or at the foot where they are not shown: why
	// something was not done.
	refuse(text string)
	// report tells an error, if there is one.
	report(err error) tea.Cmd
	// question opens a dialog over the screen.
	question(d *dialog)
	// open starts typing a text.
	open(e *entry)
	// typed is the text that is being typed; nil: none is.
	typed() *entry
	// goTo moves the focus to a pane; one that the layout does not show fills the screen
	// until the focus goes elsewhere.
	goTo(id paneID) tea.Cmd
	// focused is the pane in focus.
	focused() paneID
	// visible says whether the layout shows a pane.
	visible(id paneID) bool
	// relayout divides the screen anew and draws everything.
	relayout()
	// startLater has a command started after the present message.
	startLater(cmd tea.Cmd)
}
