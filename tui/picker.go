package tui

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/lab"
	"pgrlab/core/run"
)

// Item is one thing to choose, with one line about it.
type Item struct{ Name, Doc string }

// Picks are what the picker chose.
type Picks struct {
	Preset, Task, Method, Scale, Device string // "": as the preset says
	Seed                                uint64
	Reopen                              string // the folder of an earlier run, to look at; "": a new run
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

// Recent is an earlier run.
type Recent struct {
	Dir, What string
	When      time.Time
	Step      int
	Return    float64 // of the last evaluation; NaN without one
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
	case "enter":
		p.resolve()
		if p.wrong != nil && p.picks().Reopen == "" {
			return nil
		}
		return m.openPicked()
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

func (m *Model) openPicked() tea.Cmd {
	p := m.picker
	p.opened = true
	open, c := p.Picker.Open, p.picks()
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

// pickerView is the first screen.
func (m *Model) pickerView() []string {
	t := m.theme
	w := min(m.w-4, 100)
	body := []string{
		t.bold.on("pgrlab") + t.dim.on("  prioritized generative replay, steered while it trains"),
		"",
	}
	if m.h < 16 {
		body = body[:0]
	}
	for row := range pickRows {
		body = append(body, m.pickerRow(row, w))
	}
	body = append(body, "")
	body = append(body, m.pickerAbout(w)...)
	if room := m.h - 3; len(body) < room {
		body = append(body, "", t.key.on("enter")+t.dim.on(" start   ")+t.key.on(t.glyphs.up+t.glyphs.down)+t.dim.on(" row   ")+
			t.key.on(t.glyphs.left+t.glyphs.right)+t.dim.on(" change   ")+t.key.on("?")+t.dim.on(" help   ")+t.key.on("q")+t.dim.on(" quit"))
	}
	top := max(0, (m.h-len(body))/3)
	out := make([]string, top, m.h)
	left := strings.Repeat(" ", max(1, (m.w-w)/2))
	for _, l := range body {
		out = append(out, left+l)
	}
	return out
}

// pickerRow is a question and its answer.
func (m *Model) pickerRow(row, w int) string {
	t, p := m.theme, m.picker
	mark, ink := "  ", t.dim
	if row == p.row {
		mark, ink = t.accent.on(t.glyphs.cursor)+" ", t.bold
	}
	head := mark + ink.on(t.fit(pickNames[row], 14))
	value, doc := p.name(row), ""
	items := p.items(row)
	if len(items) > 0 {
		doc = items[p.at[row]].Doc
	}
	switch {
	case row == pickSeed:
		value, doc = strconv.FormatUint(p.seed, 10), "the same seed gives the same run"
	case row == pickRecent && len(p.recent) == 0:
		value, doc = "-", "none yet"
	case value == "" && row == pickRecent:
		value, doc = fmt.Sprintf("%d to look at", len(p.recent)), ""
	case value == "":
		value = t.dim.on(m.pickerDefault(row))
	}
	arrows := "   "
	if row == p.row && (len(items) > 1 || row == pickSeed) {
		arrows = t.accent.on(t.glyphs.left+t.glyphs.right) + " "
	}
	return t.fit(head+arrows+t.fit(t.bold.on(value), min(28, max(14, w/3)))+" "+t.dim.on(doc), w)
}

// pickerDefault is what the preset says of an axis.
func (m *Model) pickerDefault(row int) string {
	c := m.picker.config
	switch row {
	case pickTask:
		return c.Task
	case pickMethod:
		return c.Method
	default:
		return c.Scale
	}
}

// pickerAbout says what enter will do: how long it takes and how much it writes, or
// what is wrong.
func (m *Model) pickerAbout(w int) []string {
	t, p := m.theme, m.picker
	switch {
	case p.opened:
		return []string{t.stateStart.on(t.glyphs.dot + " opening")}
	case p.err != nil:
		return wrapStyled(t.bad.on(t.glyphs.cross+" "+p.err.Error()), w)
	}
	if i := p.at[pickRecent]; i > 0 {
		r := p.recent[i-1]
		text := fmt.Sprintf("%s: %s, %s steps", r.Dir, r.What, count(r.Step))
		if r.Return == r.Return {
			text += ", return " + number(r.Return)
		}
		return append(wrap(text, w), t.dim.on("enter shows its journal; nothing is changed"))
	}
	if p.wrong != nil {
		return wrapStyled(t.bad.on(t.glyphs.cross+" "+p.wrong.Error()), w)
	}
	c := p.config
	lines := []string{t.bold.on(fmt.Sprintf("%s on %s", c.Method, c.Task)) +
		t.dim.on(fmt.Sprintf(", scale %s: %s env steps, %s updates a step, batch %s", c.Scale, count(c.Steps), count(c.Knobs.UTD), count(c.Knobs.Batch)))}
	if e, ok := EstimateFrom(c, p.recent); ok {
		lines = append(lines, t.dim.on("about ")+duration(e)+t.dim.on(" on this machine, as the last such run; journal and policy about ")+bytesText(diskOf(c)))
	} else {
		lines = append(lines, t.dim.on("how long is not known yet: no such run was made on this machine; journal and policy about ")+bytesText(diskOf(c)))
	}
	var out []string
	for _, l := range lines {
		out = append(out, wrapStyled(l, w)...)
	}
	return out
}

// diskOf is about what a run writes: some lines of 200 bytes at each evaluation and
// episode, and the policy's weights.
func diskOf(c lab.Config) float64 {
	lines := 50.0
	if c.Evaluation.Every > 0 {
		lines += 6 * float64(c.Steps) / float64(c.Evaluation.Every)
	}
	weights := 0.0
	last := 64.0 // about the observation
	for _, h := range c.Agent.Hidden {
		weights += last * float64(h)
		last = float64(h)
	}
	return 200*lines + 4*weights
}

// EstimateFrom is how long a run of c takes, from the speed of the newest earlier
// run of the same task, method and scale on this machine; false when there is none.
func EstimateFrom(c lab.Config, recent []Recent) (time.Duration, bool) {
	host, _ := os.Hostname()
	for _, r := range recent {
		events, err := ReadJournal(r.Dir)
		if err != nil || len(events) < 2 {
			continue
		}
		s, ok := events[0].Body.(lab.Start)
		if !ok || s.Task != c.Task || s.Method != c.Method || s.Scale != c.Scale || s.Obs.Host != host {
			continue
		}
		last := events[len(events)-1]
		if wall := last.Wall.Sub(events[0].Wall); last.Step > 500 && wall > 0 {
			return time.Duration(float64(wall) / float64(last.Step) * float64(c.Steps)), true
		}
	}
	return 0, false
}

// RecentRuns looks for run folders directly below root, newest first, at most so
// many.
func RecentRuns(root string, most int) []Recent {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil
	}
	var out []Recent
	for _, e := range entries {
		dir := filepath.Join(root, e.Name())
		if info, err := os.Stat(filepath.Join(dir, run.JournalName)); err == nil {
			out = append(out, Recent{Dir: dir, When: info.ModTime()})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].When.After(out[j].When) })
	kept := out[:0]
	for _, r := range out {
		if len(kept) == most {
			break
		}
		if described, err := describe(r); err == nil {
			kept = append(kept, described)
		}
	}
	return kept
}

// describe reads what a run was and how far it came.
func describe(r Recent) (Recent, error) {
	events, err := ReadJournal(r.Dir)
	if err != nil {
		return r, err
	}
	if len(events) == 0 {
		return r, errors.New("empty")
	}
	r.Return = nan()
	for _, e := range events {
		r.Step = e.Step
		switch b := e.Body.(type) {
		case lab.Start:
			r.What = fmt.Sprintf("%s on %s, scale %s, seed %d", b.Method, b.Task, b.Scale, b.Seed)
		case lab.Evaluated:
			r.Return = float64(b.ReturnMean)
		}
	}
	return r, nil
}
