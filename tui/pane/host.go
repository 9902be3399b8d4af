package pane

import (
	"errors"

	tea "github.com/charmbracelet/bubbletea"
)

// ErrPasted says that pasted text was not taken for keys.
var ErrPasted = errors.New("pasted text is not taken for keys: paste it where text is typed, as behind : or n")

// Screen is what a part of it may ask of the whole.
type Screen interface {
	// Changed says that the frame must be put together again.
	Changed()
	// Tell puts one line at the foot, until the next key.
	Tell(text string)
	// Refuse puts one line under the knobs, or at the foot where they are not shown: why
	// something was not done.
	Refuse(text string)
	// Report tells an error, if there is one.
	Report(err error) tea.Cmd
	// Question opens a dialog over the screen.
	Question(d *Dialog)
	// Open starts typing a text.
	Open(e *Entry)
	// Typed is the text that is being typed; nil: none is.
	Typed() *Entry
	// GoTo moves the focus to a pane; one that the layout does not show fills the screen
	// until the focus goes elsewhere.
	GoTo(id ID) tea.Cmd
	// Focused is the pane in focus.
	Focused() ID
	// Visible says whether the layout shows a pane.
	Visible(id ID) bool
	// Relayout divides the screen anew and draws everything.
	Relayout()
	// StartLater has a command started after the present message.
	StartLater(cmd tea.Cmd)
}
