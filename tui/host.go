package tui

import (
	"errors"

	tea "github.com/charmbracelet/bubbletea"
)

// errPasted says that pasted text was not taken for keys.
var errPasted = errors.New("pasted text is not taken for keys: paste it where text is typed, as behind : or n")

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
