// Package picker is the first screen: what to run, how long that takes on this machine, and the
// earlier runs to look at or resume.
package picker

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/config"
	"pgrlab/presets"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// Item is one thing to choose, with one line about it.
type Item struct{ Name, Doc string }

// Picks are the answers given on the first screen.
type Picks struct {
	Preset, Task, Method, Scale, Device string // "": as the preset says
	Observation                         string // state or pixels; "": as the method and the preset say
	Seed                                uint64
	Steps                               int    // env steps; 0: as the preset says
	Reopen                              string // the folder of an earlier run to look at; "": a new run
	Resume                              bool   // resume that run from its last checkpoint
}

// Choices are the possible answers, before a run begins.
type Choices struct {
	Presets, Tasks, Methods, Scales, Devices []Item // the first one is the default
	Observations                             []Item // what an agent can observe of a task

	// Resolve makes the configuration of a choice; an error says what does not fit together.
	Resolve func(Picks) (config.Config, error)
	// Try finds out what a run with that configuration takes on this machine. It is called from a
	// goroutine of its own; nil: this cannot be found out.
	Try func(context.Context, config.Config) (Forecast, error)
	// Check finds the task that a person has named, and plays it as a run does. It is called from a
	// goroutine of its own; nil: there are built-in tasks only.
	Check func(ctx context.Context, kind Kind, named string) (Checked, error)
	// Allowed says whether the program that simulated the task of an earlier run may be started, as its name
	// alone says; nil: none may.
	Allowed func(config.Config) bool
	// Recent are the folders of earlier runs, newest first. It is called from a goroutine of its own.
	Recent func() []Recent
}

// Picker is the first screen: one row for each question, with the answers of the row in focus
// below.
type Picker struct {
	pane.Screen
	Choices
	theme  *theme.Theme
	help   func() tea.Cmd // opens the help
	leave  func() tea.Cmd
	begin  func(Picks) tea.Cmd // opens the run that was chosen
	Recent []Recent
	reads  bool // Recent is being read
	Row    int
	at     [pickRows]int
	Seed   uint64
	Steps  int  // 0: as the preset says
	typing bool // a digit was typed in the row: the next one is appended
	opened bool // a choice is being opened
	err    error
	boxed  bool  // as drawn
	shown  Picks // the answers that config belongs to
	config config.Config
	wrong  error // why the choice does not resolve
	// Results of runs with the present choice's settings, and of other methods at its scale.
	own    *presets.Expected
	beside []presets.Expected

	Forecasts Forecasts
	named     named
}

// The rows of the picker.
const (
	PickPreset = iota
	pickTask
	pickMethod
	pickObservation
	pickScale
	pickSeed
	pickSteps
	pickDevice
	PickRecent
	pickRows
)

var pickNames = [pickRows]string{"preset", "task", "method", "observation", "scale", "seed", "steps", "device", "earlier runs"}

// New is the first screen, with nothing chosen yet: open begins what was chosen, help opens the
// help, leave closes the screen.
func New(c Choices, s pane.Screen, m Memory, t *theme.Theme, open func(Picks) tea.Cmd, help, leave func() tea.Cmd) *Picker {
	p := &Picker{Choices: c, Screen: s, theme: t, begin: open, help: help, leave: leave, named: named{memory: m}, reads: c.Recent != nil}
	p.resolve()
	return p
}

// items are the answers of a row; for an axis the first leaves it to the preset.
func (p *Picker) items(row int) []Item {
	own := func(items []Item) []Item {
		return append([]Item{{"", "as the preset says"}}, items...)
	}
	switch row {
	case PickPreset:
		return p.Presets
	case pickTask:
		return append(own(p.Tasks), p.ownTasks()...)
	case pickMethod:
		return own(p.Methods)
	case pickObservation:
		return own(p.Observations)
	case pickScale:
		return own(p.Scales)
	case pickDevice:
		return p.Devices
	case PickRecent:
		items := []Item{{"", "start a new run"}}
		for _, r := range p.Recent {
			items = append(items, Item{filepath.Base(r.Dir), r.What})
		}
		return items
	default:
		return nil
	}
}

func (p *Picker) name(row int) string {
	items := p.items(row)
	if len(items) == 0 {
		return ""
	}
	return items[p.at[row]].Name
}

// Picks are the answers so far.
func (p *Picker) Picks() Picks {
	c := Picks{Preset: p.name(PickPreset), Task: p.name(pickTask), Method: p.name(pickMethod), Scale: p.name(pickScale),
		Observation: p.name(pickObservation), Device: p.name(pickDevice), Seed: p.Seed, Steps: p.Steps}
	if i := p.at[PickRecent]; i > 0 {
		c.Reopen = p.Recent[i-1].Dir
	}
	return c
}

func (p *Picker) resolve() {
	c := p.Picks()
	if p.Choices.Resolve == nil || c == p.shown && p.config.Task != "" {
		return
	}
	p.shown = c
	if _, is := p.unnamed(); is {
		p.wrong = errUnnamed
		return
	}
	p.config, p.wrong = p.Choices.Resolve(c)
	p.own, p.beside = presets.Expect(p.config)
}

// Keys are the keys of the first screen, for dispatch, footer and help.
func (p *Picker) Keys() []pane.Binding {
	keys := []pane.Binding{
		{Name: "start", Keys: []string{"enter"}, Does: "start", Help: "start the run; of an earlier one: show its journal", Action: p.start},
		{Name: "row-above", Keys: []string{"up", "k", "shift+tab"}, Label: "up k", Help: "the question above", Action: p.moves(-1)},
		{Name: "row-below", Keys: []string{"down", "j", "tab"}, Label: "down j tab", Hint: "up down", Does: "row", Help: "the question below", Action: p.moves(1)},
		{Name: "answer-next", Keys: []string{"right", "l"}, Label: "right l", Hint: "left right", Does: "change", Help: "the next answer", Action: p.turns(1)},
		{Name: "answer-previous", Keys: []string{"left", "h"}, Label: "left h", Help: "the answer before", Action: p.turns(-1)},
		{Name: "search", Keys: []string{"/"}, Does: "search", Help: "type a part of an answer, to whichever question, and choose among those that have it; of seed and steps: type it", Action: p.search},
		{Name: "go-on", Keys: []string{"r"}, Help: "go on with the earlier run that is chosen, where it was saved last", Action: p.resume},
		{Name: "help", Keys: []string{"?", "f1"}, Label: "? f1", Hint: "?", Does: "help", Help: "the keys, and where every number comes from", Action: p.help},
		{Name: "quit", Keys: []string{"q", "esc", "ctrl+g"}, Label: "q esc", Hint: "q", Does: "quit", Help: "leave without a run", Action: p.leave},
		{Name: "erase", Keys: []string{"backspace"}, Help: "take the last digit of seed or steps away", Action: p.digits(-1)},
	}
	for digit := range 10 {
		b := pane.Binding{Name: fmt.Sprint("digit-", digit), Keys: []string{fmt.Sprint(digit)}, Action: p.digits(digit)}
		if digit == 0 { // one line stands for all of them
			b.Label, b.Help = "0 to 9", "type seed or steps"
		}
		keys = append(keys, b)
	}
	return keys
}

// Key handles a key on the first screen.
func (p *Picker) Key(key string) tea.Cmd {
	p.Changed()
	if p.opened {
		return nil
	}
	p.err = nil
	for _, b := range p.Keys() {
		if slices.Contains(b.Keys, key) {
			cmd := b.Action()
			p.resolve()
			return tea.Batch(cmd, p.Forecast())
		}
	}
	return nil
}

// moves goes to another question, and skips questions with a single answer.
func (p *Picker) moves(by int) func() tea.Cmd {
	return func() tea.Cmd { p.move(by); return nil }
}

func (p *Picker) move(by int) {
	p.Row, p.typing = (p.Row+by+pickRows)%pickRows, false
	for !p.numeric() && len(p.items(p.Row)) < 1+min(1, p.Row) && p.Row != pickDevice {
		p.Row = (p.Row + by + pickRows) % pickRows
	}
}

func (p *Picker) turns(by int) func() tea.Cmd {
	return func() tea.Cmd { p.turn(by); return nil }
}

func (p *Picker) digits(digit int) func() tea.Cmd {
	return func() tea.Cmd { p.digit(digit); return nil }
}

// numeric says whether the row's answer is a number.
func (p *Picker) numeric() bool { return p.Row == pickSeed || p.Row == pickSteps }

// digit types a digit of the row's number; the first digit replaces the present number, and -1
// removes the last digit.
func (p *Picker) digit(digit int) {
	if !p.numeric() {
		return
	}
	p.asksFor(p.Row)
	number := p.Seed
	if p.Row == pickSteps {
		number = uint64(p.Steps)
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
	if p.Row == pickSteps {
		p.Steps = int(number)
	} else {
		p.Seed = number
	}
}

// start opens what was chosen, unless the answers do not fit together.
func (p *Picker) start() tea.Cmd {
	p.resolve()
	if k, is := p.unnamed(); is {
		return p.ask(k)
	}
	if p.wrong != nil && p.Picks().Reopen == "" {
		return nil
	}
	return p.Take(p.Picks())
}

// answer chooses the i-th answer of a row. Another preset brings its own task, method, observation,
// scale and steps.
func (p *Picker) answer(row, i int) {
	if row == PickPreset && p.at[row] != i {
		p.at[pickTask], p.at[pickMethod], p.at[pickObservation], p.at[pickScale], p.Steps = 0, 0, 0, 0, 0
	}
	p.asksFor(row)
	p.at[row] = i
}

// asksFor leaves an earlier run if the answer of a row is about a new one; all but the device are,
// which a resume takes too.
func (p *Picker) asksFor(row int) {
	if row != PickRecent && row != pickDevice {
		p.at[PickRecent] = 0
	}
}

// turn changes the answer of the row: a seed by one, steps by a factor of two.
func (p *Picker) turn(by int) {
	p.typing = false
	p.asksFor(p.Row)
	switch {
	case p.Row == pickSeed && by > 0:
		p.Seed++
	case p.Row == pickSeed:
		p.Seed -= min(1, p.Seed)
	case p.Row == pickSteps && by > 0:
		p.Steps = min(2*p.config.Steps, 1e9)
	case p.Row == pickSteps:
		p.Steps = p.config.Steps / 2
	default:
		if n := len(p.items(p.Row)); n > 0 {
			p.answer(p.Row, (p.at[p.Row]+by+n)%n)
		}
	}
}

// earlier is the configuration of the earlier run that is chosen; nil: none is chosen.
func (p *Picker) earlier() *config.Config {
	if i := p.at[PickRecent]; i > 0 {
		return &p.Recent[i-1].Config
	}
	return nil
}

// resume resumes the earlier run that is chosen.
func (p *Picker) resume() tea.Cmd {
	c := p.Picks()
	if c.Reopen == "" {
		return nil // there is nothing to resume
	}
	c.Resume = true
	return p.Take(c)
}

// Take begins what was chosen.
func (p *Picker) Take(c Picks) tea.Cmd {
	p.opened = true
	p.Forecasts.give()
	p.named.give()
	return p.begin(c)
}

// Failed shows why what was chosen did not begin.
func (p *Picker) Failed(err error) tea.Cmd {
	p.opened, p.err = false, err
	p.Changed()
	return p.Forecast()
}

// Pasted says that pasted text is not taken for keys here.
func (p *Picker) Pasted() {
	p.err = pane.ErrPasted
	p.Changed()
}
