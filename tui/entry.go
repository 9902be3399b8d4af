package tui

import (
	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
)

// entry is a line of text that is being typed; while it is open, keys and pasted
// text go to it alone.
type entry struct {
	prompt string
	hint   string // what is wanted, and how to leave
	input  textinput.Model
	submit func(text string) tea.Cmd

	complete func(text string) []candidate // nil: nothing to choose from
	chosen   int                           // of the candidates; -1: none
	unchosen int                           // what chosen is after another letter: -1, or 0 where enter takes the best
	history  []string                      // earlier texts, newest last
	back     int                           // how far back in history; 0: not
	pane     paneID                        // the pane that shows it; "": the foot of the screen
	proposed bool                          // the text was proposed, and is selected: typing replaces it
}

// entryLimit is the most that a person can type on one line.
const entryLimit = 240

// newEntry has no keys that terminals or their multiplexers keep for themselves.
func newEntry(prompt, hint string, submit func(text string) tea.Cmd) *entry {
	e := &entry{prompt: prompt, hint: hint, submit: submit, chosen: -1, unchosen: -1, input: textinput.New()}
	e.input.CharLimit = entryLimit
	k := &e.input.KeyMap
	k.LineStart = key.NewBinding(key.WithKeys("home"))
	k.CharacterBackward = key.NewBinding(key.WithKeys("left"))
	k.CharacterForward = key.NewBinding(key.WithKeys("right"))
	k.Paste = key.NewBinding(key.WithDisabled()) // a terminal pastes by itself
	k.AcceptSuggestion, k.NextSuggestion, k.PrevSuggestion = key.NewBinding(key.WithDisabled()), key.NewBinding(key.WithDisabled()), key.NewBinding(key.WithDisabled())
	e.input.Focus()
	return e
}

func (e *entry) text() string { return e.input.Value() }

func (e *entry) set(text string) {
	e.input.SetValue(text)
	e.input.CursorEnd()
}

// propose puts a text into the entry that is replaced by what is typed; a key that moves
// in it keeps it.
func (e *entry) propose(text string) {
	e.set(text)
	e.proposed = text != ""
}

// replaceProposed ends the selection of a proposed text: text and the keys that erase replace it.
// The key is used up when it only erases.
func (e *entry) replaceProposed(msg tea.KeyMsg) (used bool) {
	if !e.proposed {
		return false
	}
	e.proposed = false
	switch k := e.input.KeyMap; {
	case msg.Type == tea.KeyRunes && !msg.Alt, msg.Type == tea.KeySpace:
		e.set("")
	case key.Matches(msg, k.DeleteCharacterBackward, k.DeleteCharacterForward, k.DeleteWordBackward, k.DeleteWordForward, k.DeleteBeforeCursor, k.DeleteAfterCursor):
		e.set("")
		return true
	}
	return false
}

// escapes are the keys that leave anything that is open: terminals and their
// multiplexers delay esc, so each has a second one.
func escapes(key string) bool { return key == "esc" || key == "alt+esc" || key == "ctrl+g" }

func (e *entry) candidates() []candidate {
	if e.complete == nil {
		return nil
	}
	return e.complete(e.text())
}

// completeText takes the chosen candidate, or what all of them begin with.
func (e *entry) completeText() {
	c := e.candidates()
	switch {
	case len(c) == 0:
	case e.chosen >= 0 && e.chosen < len(c):
		e.set(c[e.chosen].text)
	default:
		common := c[0].text
		for _, o := range c[1:] {
			common = commonPrefix(common, o.text)
		}
		if len(common) <= len(e.text()) {
			common = c[0].text
		}
		e.set(common)
	}
	e.chosen = e.unchosen
}

func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && a[n]&0xC0 == 0x80 { // not inside a character
		n--
	}
	return a[:n]
}

// choose walks through the candidates, or with an empty text through what was
// typed before.
func (e *entry) choose(key string) {
	if n := len(e.history); n > 0 && (e.text() == "" || e.back > 0) {
		if key == "up" {
			e.back = min(e.back+1, n)
		} else {
			e.back = max(e.back-1, 0)
		}
		if e.back == 0 {
			e.set("")
		} else {
			e.set(e.history[n-e.back])
		}
		return
	}
	n := len(e.candidates())
	if n == 0 {
		return
	}
	if key == "down" {
		e.chosen = (e.chosen + 1) % n
	} else {
		e.chosen = (max(e.chosen, 0) + n - 1) % n
	}
}

// line is the entry as it stands at the foot of the screen.
func (e *entry) line(t *theme, w int) string {
	runes := []rune(e.text())
	at := min(e.input.Position(), len(runes))
	left := t.key.on(e.prompt) + string(runes[:at])
	right := string(runes[at:]) + " "
	under := []rune(right)
	text := left + t.cursor.on(string(under[:1])) + string(under[1:])
	if e.proposed {
		text = t.key.on(e.prompt) + t.cursor.on(string(runes)+" ")
	}
	if width(text) > w { // the end that is being typed stays in sight
		text = t.key.on(e.prompt) + t.glyphs.ellipsis + tail(string(runes), w-width(e.prompt)-3) + t.cursor.on(" ")
	}
	return t.spread(text, t.dim.on(e.hint), w)
}

// tail is the end of s that fits into w columns.
func tail(s string, w int) string {
	runes := []rune(s)
	for i := range runes {
		if rest := string(runes[i:]); width(rest) <= w {
			return rest
		}
	}
	return ""
}
