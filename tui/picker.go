package tui

import (
	"fmt"
	"path/filepath"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/lab"
)

// Item is one thing to choose, with one line about it.
type Item struct{ Name, Doc string }

// Picks are what the picker chose.
type Picks struct {
	Preset, Task, Method, Scale, Device string // "": as the preset says
	Seed                                uint64
	Reopen                              string // the folder of an earlier run, to look at; "": a new run
	Resume                              bool   // go on with that run where it was saved last
}

// Picker is what can be chosen before a run begins, and how it then begins.
type Picker struct {
	Presets, Tasks, Methods, Scales, Devices []Item // the first is the proposal

	// Resolve is the configuration of a choice; an error says what does not go
	// together.
	Resolve func(Picks) (lab.Config, error)
	// Open makes what Options describe from a choice: the run, its folder, Start.
	// It is called from a goroutine of its own.
	Open func(Picks) (Options, error)
	// Recent are the folders of earlier runs, newest first.
	Recent func() []Recent
}

// picker is the first screen: one row a question, the answers of the row in focus
// below.
type picker struct {
	Picker
	recent []Recent
	row    int
	at     [pickRows]int
	seed   uint64
	opened bool // a choice is being opened
	err    error
	shown  Picks // what config belongs to
	config lab.Config
	wrong  error // why the choice does not resolve
}

// The rows of the picker.
const (
	pickPreset = iota
	pickTask
	pickMethod
	pickScale
	pickSeed
	pickDevice
	pickRecent
	pickRows
)

var pickNames = [pickRows]string{"preset", "task", "method", "scale", "seed", "device", "earlier runs"}

func newPicker(o Picker) *picker {
	p := &picker{Picker: o}
	if o.Recent != nil {
		p.recent = o.Recent()
	}
	p.resolve()
	return p
}

// items are the answers of a row; of the axes the first leaves it to the preset.
func (p *picker) items(row int) []Item {
	own := func(items []Item) []Item {
		return append([]Item{{"", "as the preset says"}}, items...)
	}
	switch row {
	case pickPreset:
		return p.Presets
	case pickTask:
		return own(p.Tasks)
	case pickMethod:
		return own(p.Methods)
	case pickScale:
		return own(p.Scales)
	case pickDevice:
		return p.Devices
	case pickRecent:
		items := []Item{{"", "start a new run"}}
		for _, r := range p.recent {
			items = append(items, Item{filepath.Base(r.Dir), r.What})
		}
		return items
	default:
		return nil
	}
}

func (p *picker) name(row int) string {
	items := p.items(row)
	if len(items) == 0 {
		return ""
	}
	return items[p.at[row]].Name
}

// picks are the answers so far.
func (p *picker) picks() Picks {
	c := Picks{Preset: p.name(pickPreset), Task: p.name(pickTask), Method: p.name(pickMethod), Scale: p.name(pickScale),
		Device: p.name(pickDevice), Seed: p.seed}
	if i := p.at[pickRecent]; i > 0 {
		c.Reopen = p.recent[i-1].Dir
	}
	return c
}

func (p *picker) resolve() {
	c := p.picks()
	if p.Picker.Resolve == nil || c == p.shown && p.config.Task != "" {
		return
	}
	p.shown = c
	p.config, p.wrong = p.Picker.Resolve(c)
}

// picked delivers the run that was opened.
type picked struct {
	options Options
	err     error
}

// pickerKey is a key on the first screen.
func (m *Model) pickerKey(key string) tea.Cmd {
	p := m.picker
	m.changed()
	if p.opened {
		return nil
	}
	p.err = nil
	move := func(by int) {
		p.row = (p.row + by + pickRows) % pickRows
		for p.row != pickSeed && len(p.items(p.row)) < 1+min(1, p.row) && p.row != pickDevice {
			p.row = (p.row + by + pickRows) % pickRows
		}
	}
	switch key {
	case "up", "k", "shift+tab":
		move(-1)
	case "down", "j", "tab":
		move(1)
	case "right", "l", "left", "h":
		by := 1
		if key == "left" || key == "h" {
			by = -1
		}
		p.turn(by)
	case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9":
		if p.row == pickSeed && p.seed < 1e9 {
			p.seed = p.seed*10 + uint64(key[0]-'0')
		}
	case "backspace":
		if p.row == pickSeed {
			p.seed /= 10
		}
	case "?", "f1":
		return m.openHelp()
	case "q", "esc":
		return tea.Quit
	case "r":
		return m.resumePicked()
	case "enter":
		p.resolve()
		if p.wrong != nil && p.picks().Reopen == "" {
			return nil
		}
		return m.openPicked(p.picks())
	}
	p.resolve()
	return nil
}

// turn changes the answer of the row.
func (p *picker) turn(by int) {
	if p.row == pickSeed {
		if by > 0 {
			p.seed++
		} else if p.seed > 0 {
			p.seed--
		}
		return
	}
	if n := len(p.items(p.row)); n > 0 {
		p.at[p.row] = (p.at[p.row] + by + n) % n
	}
}

// resumePicked goes on with the earlier run that is chosen.
func (m *Model) resumePicked() tea.Cmd {
	c := m.picker.picks()
	if c.Reopen == "" {
		return nil // there is nothing to go on with
	}
	c.Resume = true
	return m.openPicked(c)
}

// openPicked opens a choice, outside the event loop.
func (m *Model) openPicked(c Picks) tea.Cmd {
	p := m.picker
	p.opened = true
	open := p.Picker.Open
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = picked{err: fmt.Errorf("open the run: panic: %v", r)}
			}
		}()
		o, err := open(c)
		return picked{o, err}
	}
}

// take begins the run that was picked.
func (m *Model) take(msg picked) tea.Cmd {
	if msg.err != nil {
		m.picker.opened, m.picker.err = false, msg.err
		m.changed()
		return nil
	}
	m.picker = nil
	m.adopt(msg.options)
	m.relayout()
	return m.start()
}
