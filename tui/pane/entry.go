package pane

import (
	"fmt"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/tui/theme"
)

// Entry is a line of text that is being typed; while it is open, only the entry gets keys and
// pasted text.
type Entry struct {
	prompt string
	hint   string // what to type, and how to leave
	Input  textinput.Model
	Submit func(text string) tea.Cmd
	Check  func(text string) error // what is wrong with a text, which then stays to be corrected; nil: nothing is
	wrong  string                  // with the text, until it is changed

	Complete func(text string) []Candidate // nil: nothing to choose from
	Chosen   int                           // index of the chosen candidate; -1: none
	Unchosen int                           // the value of Chosen after each letter: -1, or 0 where enter takes the best candidate
	History  []string                      // earlier texts, newest last
	Back     int                           // how far back in the history; 0: not in it
	Pane     ID                            // the pane that shows it; "": the foot of the screen
	proposed bool                          // the text is selected: typing replaces it
	proposes bool                          // the text was proposed at first: what is refused is selected again
}

// entryLimit is the longest text of one line: as long as the longest path that systems take.
const entryLimit = 4096

// NewEntry makes an entry; it does not use keys that terminals or their multiplexers reserve.
func NewEntry(prompt, hint string, submit func(text string) tea.Cmd) *Entry {
	e := &Entry{prompt: prompt, hint: hint, Submit: submit, Chosen: -1, Unchosen: -1, Input: textinput.New()}
	e.Input.CharLimit = entryLimit
	k := &e.Input.KeyMap
	k.LineStart = key.NewBinding(key.WithKeys("home"))
	k.CharacterBackward = key.NewBinding(key.WithKeys("left"))
	k.CharacterForward = key.NewBinding(key.WithKeys("right"))
	k.Paste = key.NewBinding(key.WithDisabled()) // a terminal pastes on its own
	k.AcceptSuggestion, k.NextSuggestion, k.PrevSuggestion = key.NewBinding(key.WithDisabled()), key.NewBinding(key.WithDisabled()), key.NewBinding(key.WithDisabled())
	e.Input.Focus()
	return e
}

// Refuses says whether something is wrong with a text that is to be submitted; the line then shows
// what.
func (e *Entry) Refuses(text string) bool {
	e.wrong = ""
	if e.Check == nil {
		return false
	}
	err := e.Check(text)
	if err != nil {
		e.wrong, e.proposed = err.Error(), e.proposes && text != ""
	}
	return err != nil
}

// Wrong is why the text was refused; "": it was not, or has been changed.
func (e *Entry) Wrong() string { return e.wrong }

// Changes forgets what was wrong with the text.
func (e *Entry) Changes() { e.wrong = "" }

// Type gives a key or pasted text to the line. What does not fit as a whole is not taken: a text without its
// end would pass for the whole.
func (e *Entry) Type(msg tea.KeyMsg) {
	if room := entryLimit - len([]rune(e.Text())); msg.Type == tea.KeyRunes && len(msg.Runes) > room {
		e.wrong = fmt.Sprintf("not taken: the line has room for only %d more characters", room)
		return
	}
	e.Input, _ = e.Input.Update(msg) // the cursor does not blink: its command is dropped
}

// Prompt is what the entry asks for.
func (e *Entry) Prompt() string { return e.prompt }

// Text is what has been typed so far.
func (e *Entry) Text() string { return e.Input.Value() }

func (e *Entry) set(text string) {
	e.Input.SetValue(text)
	e.Input.CursorEnd()
}

// Edit puts a text into the entry, with the cursor after it.
func (e *Entry) Edit(text string) { e.set(text) }

// Propose puts a text into the entry that typing replaces; a key that moves within the text keeps
// it.
func (e *Entry) Propose(text string) {
	e.set(text)
	e.proposed, e.proposes = text != "", true
}

// ReplaceProposed ends the selection of a proposed text: typed text and erasing keys replace it.
// The key is used up if it only erases.
func (e *Entry) ReplaceProposed(msg tea.KeyMsg) (used bool) {
	if !e.proposed {
		return false
	}
	e.proposed = false
	switch k := e.Input.KeyMap; {
	case msg.Type == tea.KeyRunes && !msg.Alt, msg.Type == tea.KeySpace:
		e.set("")
	case key.Matches(msg, k.DeleteCharacterBackward, k.DeleteCharacterForward, k.DeleteWordBackward, k.DeleteWordForward, k.DeleteBeforeCursor, k.DeleteAfterCursor):
		e.set("")
		return true
	}
	return false
}

// Escapes says whether a key leaves whatever is open. Terminals and their multiplexers delay esc,
// so there are other keys for it.
func Escapes(key string) bool { return key == "esc" || key == "alt+esc" || key == "ctrl+g" }

// Candidates are the completions of the text, the best first.
func (e *Entry) Candidates() []Candidate {
	if e.Complete == nil {
		return nil
	}
	return e.Complete(e.Text())
}

// CompleteText takes the chosen candidate, or the common prefix of all.
func (e *Entry) CompleteText() {
	c := e.Candidates()
	switch {
	case len(c) == 0:
	case e.Chosen >= 0 && e.Chosen < len(c):
		e.set(c[e.Chosen].Text)
	default:
		common := c[0].Text
		for _, o := range c[1:] {
			common = commonPrefix(common, o.Text)
		}
		if len(common) <= len(e.Text()) {
			common = c[0].Text
		}
		e.set(common)
	}
	e.Chosen = e.Unchosen
}

func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && a[n]&0xC0 == 0x80 { // do not cut inside a character
		n--
	}
	return a[:n]
}

// Choose moves through the candidates or, if the text is empty, through earlier texts.
func (e *Entry) Choose(key string) {
	if n := len(e.History); n > 0 && (e.Text() == "" || e.Back > 0) {
		if key == "up" {
			e.Back = min(e.Back+1, n)
		} else {
			e.Back = max(e.Back-1, 0)
		}
		if e.Back == 0 {
			e.set("")
		} else {
			e.set(e.History[n-e.Back])
		}
		return
	}
	n := len(e.Candidates())
	if n == 0 {
		return
	}
	if key == "down" {
		e.Chosen = (e.Chosen + 1) % n
	} else {
		e.Chosen = (max(e.Chosen, 0) + n - 1) % n
	}
}

// Line is the entry as shown at the foot of the screen.
func (e *Entry) Line(t *theme.Theme, w int) string {
	runes := []rune(e.Text())
	at := min(e.Input.Position(), len(runes))
	left := t.Key.On(e.prompt) + string(runes[:at])
	right := string(runes[at:]) + " "
	under := []rune(right)
	text := left + t.UnderCursor(string(under[:1])) + string(under[1:])
	if e.proposed {
		text = t.Key.On(e.prompt) + t.UnderCursor(string(runes)+" ")
	}
	if theme.Width(text) > w { // keep the cursor in sight, and half a line of what follows it
		room, before, after := w-theme.Width(e.prompt)-3, string(runes[:at]), string(under[1:])
		if near := tail(before, room-min(theme.Width(after), room/2)); near != before {
			text = t.Key.On(e.prompt) + t.Glyphs.Ellipsis + near + t.UnderCursor(string(under[:1])) + after
		}
	}
	if e.wrong != "" {
		wrong := t.Bad.On(t.Glyphs.Cross + " " + e.wrong)
		if theme.Width(text)+2+theme.Width(wrong) > w {
			return t.Fit(wrong, w)
		}
		return t.Spread(text, wrong, w)
	}
	return t.Spread(text, t.Dim.On(e.hint), w)
}

// tail is the end of s that fits into w columns.
func tail(s string, w int) string {
	runes := []rune(s)
	for i := range runes {
		if rest := string(runes[i:]); theme.Width(rest) <= w {
			return rest
		}
	}
	return ""
}
