package tui

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"pgrlab/core/event"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/pane/charts"
	"pgrlab/tui/picker"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// Model is the screen: one Bubble Tea model that divides the terminal among the panes and routes
// messages to them. Each pane decides what it shows; what all panes read is in the embedded
// pane.Run. All methods run on the event loop.
type Model struct {
	*pane.Run
	options     Options
	settings    Settings
	pictures    *Pictures // nil: everything is drawn with characters
	askPictures tea.Cmd
	environ     termenv.Environ               // the environment of the person at this screen
	stderr      interface{ lines() []string } // nil: stderr is not captured

	panes []pane.Pane // in the order of the focus and the tabs
	screenParts
	watchers []pane.Watcher // those that receive events

	w, h     int
	layout   layout
	view     view
	focus    pane.ID
	returnTo pane.ID // where a key that goes to a pane leads back to
	returned bool    // the focus came back to a pane that fills the screen
	zoomed   bool

	message     string  // one line at the foot, shown until the next key
	inLesson    bool    // a lesson has put the screen into the layout present, to show the loop
	focusBefore pane.ID // the focus when the lesson began
	viewBefore  view    // the layout before that
	entry       *pane.Entry
	dialog      *pane.Dialog
	mouse       bool
	later       tea.Cmd // started after the current message
	startErr    error

	drawn
}

// drawn holds what was drawn last and whether it is still valid.
type drawn struct {
	cache  map[pane.ID]paneCache
	frame  string
	stale  bool
	second int // the second the starting line was drawn for
}

// paneCache is a pane as last drawn, with the state it was drawn for.
type paneCache struct {
	version, w, h int
	focused       bool
	lines         []string
}

// New makes the screen of the run that o describes; Run shows it.
func New(o Options) *Model {
	r := o.Renderer
	if r == nil {
		_, out := o.terminal()
		r = theme.NewRenderer(out, environment{})
	}
	s := o.settings()
	s.Layout = cmp.Or(o.Layout, s.Layout)
	m := assemble(&pane.Run{Theme: theme.New(r, o.Characters), Now: o.clock()}, s)
	m.options, m.environ = o, environment{}
	if m.view == presentView && o.Replay && o.Scenes != nil && o.Draw != nil {
		m.focus = pane.Agent // knobs are of no use there
	}
	kept := loadMemory(o.Home)
	*m.palette.memory = *kept
	if keys, err := rebind(m.keysTable(), s.Keys); err == nil {
		m.palette.keys = keys
	}
	m.steering.Session = m.Now().Unix() + o.screen<<34 // seconds alone do not distinguish two screens
	m.charts.StyleCharts()
	m.describe(o.About, o.Start)
	if o.Picker != nil {
		m.picker = picker.New(o.Picker.Choices, m, m.palette.memory, m.Theme, m.openPicked, m.help.Show, m.leaving.leave)
	}
	return m
}

// describe takes over the description of a run from the options.
func (m *Model) describe(about pane.About, start func() (pane.Lab, error)) {
	m.options.About, m.options.Start = about, start
	m.About = &m.options.About
	if m.About.LoadRun == nil {
		m.About.LoadRun = history.ReadJournal
	}
	if m.About.LoadFork == nil {
		m.About.LoadFork = m.About.LoadRun
	}
	if m.About.LoadConfig == nil {
		m.About.LoadConfig = picker.ReadConfig
	}
	m.History = m.NewHistory()
	m.SortKnobs()
	m.knobs.Begin()
}

// Init starts the lab, unless it is running already, and the polling.
func (m *Model) Init() tea.Cmd {
	var mouse tea.Cmd
	if m.mouse {
		mouse = tea.EnableMouseCellMotion
	}
	return tea.Batch(m.start(), m.tick(), m.forecast(), m.readRecent(), mouse, m.askPictures)
}

// started delivers the lab, or the reason why there is none.
type started struct {
	lab pane.Lab
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

// tick waits until the next poll of the lab. The lab is never asked to push: measurements showed
// that a Send per step to a slow terminal holds up the training.
func (m *Model) tick() tea.Cmd {
	return tea.Tick(m.pollEvery(), func(time.Time) tea.Msg { return polled{} })
}

// pollEvery is the time between two polls: what the settings say, or longer on a line that cannot
// carry so many frames.
func (m *Model) pollEvery() time.Duration {
	often := m.settings.Refresh
	if m.options.Refresh > 0 {
		often = min(often, m.options.Refresh)
	}
	every := time.Duration(float64(time.Second) / often)
	return max(every, m.headline.link.pace())
}

func (m *Model) begin(msg started) tea.Cmd {
	if msg.err != nil {
		m.startErr = msg.err
		return m.leaving.leave()
	}
	m.Lab = msg.lab
	m.poll()
	m.Changed()
	m.StartLater(m.charts.LookForOthers())
	if m.leaving.soon {
		return m.leaving.suspend()
	}
	if m.options.Message != "" {
		m.Tell(m.options.Message)
	}
	return nil
}

func (m *Model) resize(w, h int) {
	m.w, m.h = w, h
	m.pictures.Resized(w, h)
	m.Relayout()
}

// Relayout divides the screen again and forgets what was drawn.
func (m *Model) Relayout() {
	m.layout = divide(m.division())
	m.Boxed = m.layout.kind == boxed
	m.help.Resize(m.w, m.h)
	clear(m.cache)
	m.Changed()
}

// division is what the layout depends on.
func (m *Model) division() division {
	n := m.lessons.Rows(m.w, m.h)
	d := division{w: m.w, h: m.h - n, lesson: n, view: m.view, focus: m.focus, zoomed: m.zoomed, knobs: m.UsedKnobs(), chart: pane.Chart1, panel: m.scoresOr(), imagines: m.Snap != nil && m.Imagines(), dreams: m.Dreams(), fan: m.fans.Shown() && m.focus != m.scoresOr() && m.focus != pane.Phase, projected: m.Projected}
	d.scores = d.panel
	if charts.IsChart(m.focus) {
		d.chart = m.focus
	} else if m.focus != pane.Sentence {
		d.panel = m.focus
	}
	return d
}

// scoresOr is the pane of F. Where nothing is generated it is the agent's pane or, if that has nothing to show, that
// of the learner's model of the world.
func (m *Model) scoresOr() pane.ID {
	switch {
	case m.Snap == nil || m.Generates():
		return pane.Scores
	case (m.About.Draw != nil || m.About.Config.Sees()) && !m.About.Replay:
		return pane.Agent
	case m.Imagines():
		return pane.Generator
	}
	return pane.Scores
}

// poll looks at the lab: it takes the newest snapshot and the events since the last poll.
func (m *Model) poll() {
	if s := int(m.Now().Unix()); m.Lab == nil && s != m.second && m.picker == nil {
		m.second = s // the starting line counts seconds
		m.Changed()
	}
	if m.headline.link.changedPace() {
		m.Changed()
	}
	if m.pictures.Lost() {
		m.Relayout()
	}
	m.CheckDriver()
	if m.Lab == nil {
		return
	}
	m.player.rewound()
	events := m.Lab.Events(m.History.Next)
	for _, e := range events {
		m.History.Take(e)
		for _, w := range m.watchers {
			w.Event(e)
		}
	}
	if len(events) > 0 {
		m.Changed()
	}
	if s := m.Lab.Snapshot(); s != m.Snap {
		first := m.Snap == nil
		m.Snap = s
		if first {
			m.Relayout() // what the run does decides which panes there are
		}
		m.observe(s)
		m.Touch(topic.Snapshot)
		if s.Share > 0 { // part of a change's stamps
			m.Touch(topic.Changes)
		}
		m.Changed()
	}
	m.steering.RenewPreview()
	m.drain()
	m.lessons.Poll()
	m.ground.Poll()
	for _, p := range m.panes {
		if poller, ok := p.(pane.Poller); ok {
			poller.Poll(m.Visible(p.ID()))
		}
	}
}

// observe records what only a snapshot has: speed over time.
func (m *Model) observe(s *event.Snapshot) {
	m.headline.eta.take(s.Time, s.ETA, s.State == event.PausedState)
	speed := m.History.Main(history.CurveSpeed)
	if last, ok := speed.Last(); s.StepsPerSec > 0 && s.Updates > 0 && (!ok || s.Step > last.Step) && !m.History.Begin.IsZero() {
		wall := s.Time.Sub(m.History.Begin).Seconds()
		if !ok || wall-last.Wall >= 1 {
			m.History.Record(history.CurveSpeed, history.Sample{Step: s.Step, Wall: wall, Y: s.StepsPerSec})
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
