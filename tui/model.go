package tui

import (
	"fmt"
	"runtime/debug"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"pgrlab/core/event"
)

// Model is the screen: one Bubble Tea model that divides the terminal among the panes
// and routes messages to them. What a pane shows is its own; what all of them see is in
// the runView. All its methods run on the event loop.
type Model struct {
	*runView
	options  Options
	settings Settings
	environ  termenv.Environ               // of the person at this screen
	stderr   interface{ lines() []string } // nil: stderr is not caught

	panes []pane // in the order of the focus and the tabs
	screenParts
	watchers []watcher // of events

	w, h     int
	layout   layout
	view     view
	focus    paneID
	returnTo paneID // where the agent view goes back to
	zoomed   bool

	told     string // one line at the foot, until the next key
	entry    *entry
	dialog   *dialog
	mouse    bool
	later    tea.Cmd // to be started after this message
	startErr error

	drawn
}

// drawn is what was drawn last, and whether it still holds.
type drawn struct {
	cache  map[paneID]paneCache
	frame  string
	stale  bool
	second int // the second the starting line was drawn for
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
	s := o.settings()
	m := assemble(&runView{theme: newTheme(r, o.Characters), now: o.clock()}, s)
	m.options, m.environ = o, environment{}
	kept := loadMemory(o.Home)
	*m.palette.memory = *kept
	if keys, err := rebind(m.keysTable(), s.Keys); err == nil {
		m.palette.keys = keys
	}
	m.steering.session = m.now().Unix()
	m.charts.styleCharts()
	m.describe(o.About, o.Start)
	if o.Picker != nil {
		m.picker = newPicker(o.Picker.Choices, m, m.theme, m.openPicked, m.help.show, m.leaving.leave)
	}
	return m
}

// describe takes what options say of a run.
func (m *Model) describe(about About, start func() (Lab, error)) {
	m.options.About, m.options.Start = about, start
	m.about = &m.options.About
	if m.about.LoadRun == nil {
		m.about.LoadRun = ReadJournal
	}
	m.history = newHistory(about.Config)
	m.sortKnobs()
	m.knobs.selected, m.knobs.top = 0, 0
}

// Init starts the lab, if it is not running yet, and the polling.
func (m *Model) Init() tea.Cmd {
	var mouse tea.Cmd
	if m.mouse {
		mouse = tea.EnableMouseCellMotion
	}
	return tea.Batch(m.start(), m.tick(), m.forecast(), mouse)
}

// started delivers the lab, or why there is none.
type started struct {
	lab Lab
	err error
}

func (m *Model) start() tea.Cmd {
	start := m.options.Start
	if start == nil || m.picker != nil {
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

// tick waits until the next look at the lab. The lab is never asked to push:
// measured, a Send per step to a slow terminal holds up the training.
func (m *Model) tick() tea.Cmd {
	return tea.Tick(m.pollEvery(), func(time.Time) tea.Msg { return polled{} })
}

// pollEvery is the time between two looks: as the settings say, and longer on a
// line that does not carry so many frames.
func (m *Model) pollEvery() time.Duration {
	every := time.Duration(float64(time.Second) / m.settings.Refresh)
	return max(every, m.headline.link.pace())
}

// Update takes one message; it does no input or output except Send, which does not
// block.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case polled:
		m.poll()
		return m, tea.Batch(m.tick(), m.takeLater(), m.runs.readJournals())
	case started:
		return m, m.begin(msg)
	case picked:
		return m, m.take(msg)
	case tried:
		if m.picker != nil {
			m.picker.takeForecast(msg)
		}
	case loaded:
		m.runs.overlayRun(msg)
	case forked:
		m.runs.takeForks(msg)
	case childrenRead:
		m.runs.takeChildren(msg)
	case tea.KeyMsg:
		cmd := m.keystrokes(msg)
		return m, tea.Batch(cmd, m.takeLater())
	case tea.MouseMsg:
		return m, m.mouseEvent(msg)
	case leaveNow:
		return m, m.leaving.suspend()
	case tea.ResumeMsg:
		if m.mouse { // the program forgets it
			return m, tea.EnableMouseCellMotion
		}
	}
	return m, nil
}

func (m *Model) begin(msg started) tea.Cmd {
	if msg.err != nil {
		m.startErr = msg.err
		return m.leaving.leave()
	}
	m.lab = msg.lab
	m.poll()
	m.changed()
	if m.leaving.soon {
		return m.leaving.suspend()
	}
	if m.options.Told != "" {
		m.tell(m.options.Told)
	}
	return nil
}

func (m *Model) resize(w, h int) {
	m.w, m.h = w, h
	m.relayout()
}

// relayout divides the screen anew and forgets what was drawn.
func (m *Model) relayout() {
	m.layout = divide(m.division())
	m.boxed = m.layout.kind == boxed
	m.help.resize(m.w, m.h)
	clear(m.cache)
	m.changed()
}

// division is what the layout depends on.
func (m *Model) division() division {
	n := m.lessons.rows(m.w, m.h)
	d := division{w: m.w, h: m.h - n, lesson: n, view: m.view, focus: m.focus, zoomed: m.zoomed, chart: paneChart1, panel: paneScores}
	if isChart(m.focus) {
		d.chart = m.focus
	} else if m.focus != paneSentence {
		d.panel = m.focus
	}
	return d
}

// poll looks at the lab: its newest snapshot, and the events since the last look.
func (m *Model) poll() {
	if s := int(m.now().Unix()); m.lab == nil && s != m.second && m.picker == nil {
		m.second = s // the starting line counts seconds
		m.changed()
	}
	if m.headline.link.changedPace() {
		m.changed()
	}
	m.seated()
	if m.lab == nil {
		return
	}
	m.player.rewound()
	events := m.lab.Events(m.history.next)
	for _, e := range events {
		m.history.take(e)
		for _, w := range m.watchers {
			w.Event(e)
		}
	}
	if len(events) > 0 {
		m.changed()
	}
	if s := m.lab.Snapshot(); s != m.snap {
		m.snap = s
		m.observe(s)
		m.touch(topicSnapshot)
		m.changed()
	}
	m.steering.renewPreview()
	m.drain()
	m.lessons.poll()
	for _, p := range m.panes {
		if poller, ok := p.(poller); ok {
			poller.Poll(m.visible(p.ID()))
		}
	}
}

// observe keeps what only a snapshot tells: speed over time.
func (m *Model) observe(s *event.Snapshot) {
	m.headline.eta.take(s.Time, s.ETA)
	speed := m.history.curve(curveSpeed, 0)
	if last, ok := speed.last(); s.StepsPerSec > 0 && s.Updates > 0 && (!ok || s.Step > last.step) && !m.history.begin.IsZero() {
		wall := s.Time.Sub(m.history.begin).Seconds()
		if !ok || wall-last.wall >= 1 {
			m.history.record(curveSpeed, 0, sample{s.Step, wall, s.StepsPerSec})
		}
	}
}

// View is the frame: exactly as many lines as the screen has.
func (m *Model) View() string {
	if m.w < 1 || m.h < 1 {
		return ""
	}
	if m.stale {
		m.frame = m.framed(m.draw())
		m.stale = false
	}
	return m.frame
}
