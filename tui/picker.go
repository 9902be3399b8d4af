package tui

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/knob"
	"pgrlab/core/lab"
)

// Item is one thing to choose, with one line about it.
type Item struct{ Name, Doc string }

// Picks are what the picker chose.
type Picks struct {
	Preset, Task, Method, Scale, Device string // "": as the preset says
	Seed                                uint64
	Steps                               int    // env steps; 0: as the preset says
	Reopen                              string // the folder of an earlier run, to look at; "": a new run
	Resume                              bool   // go on with that run where it was saved last
}

// Choices are what can be chosen before a run begins.
type Choices struct {
	Presets, Tasks, Methods, Scales, Devices []Item // the first is the proposal

	// Resolve is the configuration of a choice; an error says what does not go
	// together.
	Resolve func(Picks) (lab.Config, error)
	// Try finds out what a run of that configuration takes on this machine. It is
	// called from a goroutine of its own; nil: it cannot be found out.
	Try func(context.Context, lab.Config) (Forecast, error)
	// Recent are the folders of earlier runs, newest first.
	Recent func() []Recent
}

// picker is the first screen: one row a question, the answers of the row in focus
// below.
type picker struct {
	host
	Choices
	theme  *theme
	help   func() tea.Cmd // opens it
	leave  func() tea.Cmd
	begin  func(Picks) tea.Cmd // opens what was chosen
	recent []Recent
	row    int
	at     [pickRows]int
	seed   uint64
	steps  int  // 0: as the preset says
	typing bool // a digit of the row's number was typed: the next one is put behind it
	opened bool // a choice is being opened
	err    error
	boxed  bool  // as drawn
	shown  Picks // what config belongs to
	config lab.Config
	wrong  error // why the choice does not resolve

	forecasts forecasts
}

// The rows of the picker.
const (
	pickPreset = iota
	pickTask
	pickMethod
	pickScale
	pickSeed
	pickSteps
	pickDevice
	pickRecent
	pickRows
)

var pickNames = [pickRows]string{"preset", "task", "method", "scale", "seed", "steps", "device", "earlier runs"}

// newPicker is the first screen with a choice to be made: open begins what was chosen,
// help opens the help, leave closes the screen.
func newPicker(c Choices, s host, t *theme, open func(Picks) tea.Cmd, help, leave func() tea.Cmd) *picker {
	p := &picker{Choices: c, host: s, theme: t, begin: open, help: help, leave: leave}
	if c.Recent != nil {
		p.recent = c.Recent()
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
		Device: p.name(pickDevice), Seed: p.seed, Steps: p.steps}
	if i := p.at[pickRecent]; i > 0 {
		c.Reopen = p.recent[i-1].Dir
	}
	return c
}

func (p *picker) resolve() {
	c := p.picks()
	if p.Choices.Resolve == nil || c == p.shown && p.config.Task != "" {
		return
	}
	p.shown = c
	p.config, p.wrong = p.Choices.Resolve(c)
}

// keys are those of the first screen: dispatch, its foot and its help.
func (p *picker) keys() []binding {
	keys := []binding{
		{name: "start", keys: []string{"enter"}, does: "start", help: "start the run; of an earlier one: show its journal", action: p.start},
		{name: "row-above", keys: []string{"up", "k", "shift+tab"}, label: "up k", help: "the question above", action: p.moves(-1)},
		{name: "row-below", keys: []string{"down", "j", "tab"}, label: "down j tab", hint: "up down", does: "row", help: "the question below", action: p.moves(1)},
		{name: "answer-next", keys: []string{"right", "l"}, label: "right l", hint: "left right", does: "change", help: "the next answer", action: p.turns(1)},
		{name: "answer-previous", keys: []string{"left", "h"}, label: "left h", help: "the answer before", action: p.turns(-1)},
		{name: "search", keys: []string{"/"}, does: "search", help: "type a part of an answer and choose among those that have it; of seed and steps: type it", action: p.search},
		{name: "go-on", keys: []string{"r"}, help: "go on with the earlier run that is chosen, where it was saved last", action: p.resume},
		{name: "help", keys: []string{"?", "f1"}, label: "? f1", hint: "?", does: "help", help: "the keys, and where every number comes from", action: p.help},
		{name: "quit", keys: []string{"q", "esc", "ctrl+g"}, label: "q esc", hint: "q", does: "quit", help: "leave without a run", action: p.leave},
		{name: "erase", keys: []string{"backspace"}, help: "take the last digit of seed or steps away", action: p.digits(-1)},
	}
	for digit := range 10 {
		b := binding{name: fmt.Sprint("digit-", digit), keys: []string{fmt.Sprint(digit)}, action: p.digits(digit)}
		if digit == 0 { // one line for all of them
			b.label, b.help = "0 to 9", "type seed or steps"
		}
		keys = append(keys, b)
	}
	return keys
}

// key is a key on the first screen.
func (p *picker) key(key string) tea.Cmd {
	p.changed()
	if p.opened {
		return nil
	}
	p.err = nil
	for _, b := range p.keys() {
		if slices.Contains(b.keys, key) {
			cmd := b.action()
			p.resolve()
			return tea.Batch(cmd, p.forecast())
		}
	}
	return nil
}

// moves goes to another question, past those that have but one answer.
func (p *picker) moves(by int) func() tea.Cmd {
	return func() tea.Cmd { p.move(by); return nil }
}

func (p *picker) move(by int) {
	p.row, p.typing = (p.row+by+pickRows)%pickRows, false
	for !p.numeric() && len(p.items(p.row)) < 1+min(1, p.row) && p.row != pickDevice {
		p.row = (p.row + by + pickRows) % pickRows
	}
}

func (p *picker) turns(by int) func() tea.Cmd {
	return func() tea.Cmd { p.turn(by); return nil }
}

func (p *picker) digits(digit int) func() tea.Cmd {
	return func() tea.Cmd { p.digit(digit); return nil }
}

// numeric says whether the row's answer is a number.
func (p *picker) numeric() bool { return p.row == pickSeed || p.row == pickSteps }

// digit types a digit of the row's number, of which the first replaces what is
// there; -1 takes the last one away.
func (p *picker) digit(digit int) {
	if !p.numeric() {
		return
	}
	number := p.seed
	if p.row == pickSteps {
		number = uint64(p.steps)
	}
	switch {
	case digit < 0:
		number /= 10
	case !p.typing:
		number = uint64(digit)
	case number < 1e9:
		number = number*10 + uint64(digit)
	}
	p.typing = true
	if p.row == pickSteps {
		p.steps = int(number)
	} else {
		p.seed = number
	}
}

// start opens what is chosen, unless it does not go together.
func (p *picker) start() tea.Cmd {
	p.resolve()
	if p.wrong != nil && p.picks().Reopen == "" {
		return nil
	}
	return p.take(p.picks())
}

// search asks for a part of an answer.
func (p *picker) search() tea.Cmd {
	row := p.row
	e := newEntry(pickNames[row]+": ", "up down choose  enter take  esc leave", func(text string) tea.Cmd { return p.found(row, text) })
	if !p.numeric() {
		e.complete = func(text string) []candidate { return best(p.candidates(row), text) }
		e.chosen, e.unchosen = p.at[row], 0
	}
	p.open(e)
	return nil
}

// candidates are the answers of a row by their names; that of the preset has a dash.
func (p *picker) candidates(row int) []candidate {
	var all []candidate
	for _, item := range p.items(row) {
		c := candidate{item.Name, item.Doc}
		if c.text == "" {
			c.text = "-"
		}
		all = append(all, c)
	}
	return all
}

// found takes the answer that was typed, or the one that fits it best.
func (p *picker) found(row int, text string) tea.Cmd {
	p.err = p.find(row, text)
	p.resolve()
	return p.forecast()
}

func (p *picker) find(row int, text string) error {
	if row == pickSeed {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is no seed: want a whole number from 0", text)
		}
		p.seed = seed
		return nil
	}
	if row == pickSteps {
		steps, err := knob.ParseCount(text)
		if text == "" || err == nil {
			p.steps = steps
			return nil
		}
		return err
	}
	all := p.candidates(row)
	found := best(all, text)
	if len(found) == 0 {
		return fmt.Errorf("no %s has %q in its name", pickNames[row], text)
	}
	for i, c := range all {
		if c.text == found[0].text {
			p.answer(row, i)
			break
		}
	}
	return nil
}

// answer takes the i-th answer of a row. Another preset brings its own task, method,
// scale and steps.
func (p *picker) answer(row, i int) {
	if row == pickPreset && p.at[row] != i {
		p.at[pickTask], p.at[pickMethod], p.at[pickScale], p.steps = 0, 0, 0, 0
	}
	p.at[row] = i
}

// turn changes the answer of the row: a seed by one, steps by a factor of two.
func (p *picker) turn(by int) {
	p.typing = false
	switch {
	case p.row == pickSeed && by > 0:
		p.seed++
	case p.row == pickSeed:
		p.seed -= min(1, p.seed)
	case p.row == pickSteps && by > 0:
		p.steps = min(2*p.config.Steps, 1e9)
	case p.row == pickSteps:
		p.steps = p.config.Steps / 2
	default:
		if n := len(p.items(p.row)); n > 0 {
			p.answer(p.row, (p.at[p.row]+by+n)%n)
		}
	}
}

// earlier is the configuration of the earlier run that is chosen; nil: none is.
func (p *picker) earlier() *lab.Config {
	if i := p.at[pickRecent]; i > 0 {
		return &p.recent[i-1].config
	}
	return nil
}

// resume goes on with the earlier run that is chosen.
func (p *picker) resume() tea.Cmd {
	c := p.picks()
	if c.Reopen == "" {
		return nil // there is nothing to go on with
	}
	c.Resume = true
	return p.take(c)
}

// take begins what was chosen.
func (p *picker) take(c Picks) tea.Cmd {
	p.opened = true
	p.forecasts.give()
	return p.begin(c)
}

// failed shows why what was chosen did not begin.
func (p *picker) failed(err error) tea.Cmd {
	p.opened, p.err = false, err
	p.changed()
	return p.forecast()
}

// pasted says that pasted text is not taken for keys here.
func (p *picker) pasted() {
	p.err = errPasted
	p.changed()
}
