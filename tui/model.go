package tui

import (
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/lab"
)

// pollEvery is the time between two looks at the lab. The lab is never asked to
// push: measured, a Send per step to a slow terminal holds up the training.
const pollEvery = 200 * time.Millisecond

// secondInterrupt is the time in which a second ctrl+c means stop and save at once.
const secondInterrupt = 5 * time.Second

// Lab is what the screen needs of a running experiment.
type Lab interface {
	Snapshot() *lab.Snapshot
	Events(from int) []lab.Event
	Send(lab.Command) error
}

// Model is the screen: one Bubble Tea model whose panes are drawn when something
// they show has changed. All its methods run on the event loop.
type Model struct {
	options Options
	theme   *theme
	keys    []binding
	now     func() time.Time

	lab      Lab
	startErr error
	snap     *lab.Snapshot
	history  history

	w, h   int
	focus  paneID
	zoomed bool
	layout layout

	knobs        []lab.Knob
	selected     int
	knobsTop     int
	staged       map[string]lab.Value
	editing      *string // the value being typed; nil: not typing
	message      string  // one line under the knobs: why something did not work
	messageState changeState
	session      int64 // begins the ids of this screen's commands
	sent         int   // commands sent, for their ids

	eventsUpBy, eventsRoom int
	inspect                [paneCount]int // 1 + index of the inspected point; 0: none
	dialog                 *dialog
	help                   bool
	helpTop                int
	interruptAt            time.Time
	stopRequested          bool

	cache  [paneCount]paneCache
	frame  string
	stale  bool
	second int // the second the header was drawn for
}

// paneCache is a pane as drawn, and for what.
type paneCache struct {
	version, w, h int
	focused       bool
	lines         []string
}

// New makes the screen of a run that Options describe; Run shows it.
func New(o Options) *Model {
	r := o.Renderer
	if r == nil {
		_, out := o.terminal()
		r = newRenderer(out, environment{})
	}
	m := &Model{
		options: o, theme: newTheme(r, o.Characters), keys: keysTable(), now: o.clock(),
		knobs: lab.Knobs(), staged: map[string]lab.Value{}, stale: true,
	}
	m.session = m.now().Unix()
	return m
}

// Init starts the lab, if it is not running yet, and the polling.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.start(), tick())
}

// started delivers the lab, or why there is none.
type started struct {
	lab Lab
	err error
}

func (m *Model) start() tea.Cmd {
	start := m.options.Start
	if start == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = started{err: fmt.Errorf("start the run: panic: %v\n%s", r, debug.Stack())}
			}
		}()
		l, err := start()
		return started{l, err}
	}
}

type polled struct{}

func tick() tea.Cmd {
	return tea.Tick(pollEvery, func(time.Time) tea.Msg { return polled{} })
}

// Update takes one message; it does no input or output except Send, which does not
// block.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case polled:
		m.poll()
		return m, tick()
	case started:
		return m, m.begin(msg)
	case tea.KeyMsg:
		return m, m.key(msg)
	}
	return m, nil
}

func (m *Model) begin(msg started) tea.Cmd {
	if msg.err != nil {
		m.startErr = msg.err
		return tea.Quit
	}
	m.lab = msg.lab
	m.poll()
	m.changed()
	return nil
}

func (m *Model) resize(w, h int) {
	m.w, m.h = w, h
	m.relayout()
}

// relayout divides the screen anew and forgets what was drawn.
func (m *Model) relayout() {
	m.layout = divide(m.w, m.h, m.focus, m.zoomed)
	for i := range m.cache {
		m.cache[i].lines = nil
	}
	m.changed()
}

// changed says that the frame must be put together again.
func (m *Model) changed() { m.stale = true }

// poll looks at the lab: its newest snapshot, and the events since the last look.
func (m *Model) poll() {
	if s := int(m.now().Unix()); m.lab == nil && s != m.second {
		m.second = s // the starting line counts seconds
		m.changed()
	}
	if m.lab == nil {
		return
	}
	before := len(m.history.lines)
	events := m.lab.Events(m.history.next)
	for _, e := range events {
		m.history.take(e)
	}
	if m.eventsUpBy > 0 {
		m.eventsUpBy += len(m.history.lines) - before
	}
	if len(events) > 0 {
		m.changed()
	}
	if s := m.lab.Snapshot(); s != m.snap {
		m.snap = s
		m.history.touch(paneKnobs, panePhase, paneScores, paneLosses)
		m.changed()
	}
}

// key dispatches a key: to the dialog, the text entry, the help, or the table.
func (m *Model) key(msg tea.KeyMsg) tea.Cmd {
	key := msg.String()
	if msg.Paste {
		return nil
	}
	if key == "alt+esc" { // two quick escapes arrive as one key
		key = "esc"
	}
	if key == "ctrl+c" {
		return m.interrupt()
	}
	switch {
	case m.dialog != nil:
		return m.answer(key)
	case m.help:
		m.helpKey(key)
		return nil
	case m.editing != nil:
		return m.editKey(key, msg)
	}
	for _, b := range m.keys {
		if b.matches(key, m.focus) {
			cmd := b.action(m)
			m.changed()
			return cmd
		}
	}
	return m.typed(msg)
}

// View is the frame: exactly as many lines as the screen has.
func (m *Model) View() string {
	if m.w < 1 || m.h < 1 {
		return ""
	}
	if m.stale {
		m.frame = strings.Join(m.draw(), "\n")
		m.stale = false
	}
	return m.frame
}

// focusNext moves the focus to the next pane that the layout shows.
func (m *Model) focusNext() tea.Cmd     { return m.moveFocus(1) }
func (m *Model) focusPrevious() tea.Cmd { return m.moveFocus(int(paneCount) - 1) }

func (m *Model) moveFocus(by int) tea.Cmd {
	for range paneCount {
		m.focus = (m.focus + paneID(by)) % paneCount
		if m.layout.kind >= tabbed || m.layout.visible(m.focus) {
			break
		}
	}
	m.relayout()
	return nil
}

func (m *Model) toggleZoom() tea.Cmd {
	m.zoomed = !m.zoomed
	m.relayout()
	return nil
}

// back peels one layer: inspection, staged values, zoom.
func (m *Model) back() tea.Cmd {
	switch {
	case m.inspect[m.focus] > 0:
		m.inspect[m.focus] = 0
		m.history.touch(m.focus)
	case len(m.staged) > 0:
		clear(m.staged)
		m.say(applied, "")
	case m.zoomed:
		return m.toggleZoom()
	case m.focus == paneEvents && m.eventsUpBy > 0:
		return m.eventsFollow()
	}
	return nil
}

func (m *Model) openHelp() tea.Cmd {
	m.help, m.helpTop = true, 0
	return nil
}

func (m *Model) helpKey(key string) {
	switch key {
	case "?", "esc", "q", "enter":
		m.help = false
	case "down", "j":
		m.helpTop++
	case "up", "k":
		m.helpTop--
	case "pgdown", " ", "f":
		m.helpTop += m.h - 3
	case "pgup", "b":
		m.helpTop -= m.h - 3
	case "home":
		m.helpTop = 0
	case "end", "G":
		m.helpTop = 1 << 20
	}
	m.changed()
}

// say puts one line under the knobs.
func (m *Model) say(state changeState, text string) {
	m.message, m.messageState = text, state
	m.history.touch(paneKnobs)
	m.changed()
}
