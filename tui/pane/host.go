package pane

import (
	"errors"

	tea "github.com/charmbracelet/bubbletea"
)

// ErrPasted says that pasted text is not taken for keys.
var ErrPasted = errors.New("pasted text is not taken for keys: paste it where text is typed, as after : or n")

// Screen is what a part of the screen may ask of the whole.
type Screen interface {
	// Changed says that the frame must be put together again.
	Changed()
	// Tell puts one line at the foot, until the next key.
	Tell(text string)
	// Refuse puts one line under the knobs, or at the foot if the knobs are not shown: the reason
	// why something was not done.
	Refuse(text string)
	// Report shows an error, if there is one.
	Report(err error) tea.Cmd
	// Question opens a dialog over the screen.
	Question(d *Dialog)
	// Open opens a text entry.
	Open(e *Entry)
	// Typed is the open text entry; nil: none is open.
	Typed() *Entry
	// GoTo moves the focus to a pane; a pane that the layout does not show fills the screen until
	// the focus goes elsewhere.
	GoTo(id ID) tea.Cmd
	// Focused is the pane in focus.
	Focused() ID
	// Visible says whether the layout shows a pane.
	Visible(id ID) bool
	// Relayout divides the screen again and draws everything.
	Relayout()
	// StartLater starts a command after the current message.
	StartLater(cmd tea.Cmd)
}
