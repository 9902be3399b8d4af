package tui

import (
	"fmt"
	"runtime/debug"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"pgrlab/core/event"
	"pgrlab/core/knob"
)

// secondInterrupt is the time in which a second ctrl+c means stop and save at once.
const secondInterrupt = 5 * time.Second

// Lab is what the screen needs of a running experiment.
type Lab interface {
	Snapshot() *event.Snapshot
	Events(from int) []event.Event
	Send(event.Command) error
}

// Model is the screen: one Bubble Tea model whose panes are drawn when something
// they show has changed. All its methods run on the event loop.
type Model struct {
	options  Options
	settings Settings
	memory   remembered
	theme    *theme
	keys     []binding
	now      func() time.Time
	link     *link // what the writer to the terminal knows of the line; nil: nothing

	lab      Lab
	startErr error
	snap     *event.Snapshot
	history  history
	compared []other // runs that the charts show beside this one
	picker   *picker // open before there is a run
	lesson   *lesson // that is being given
	forking  *brood  // waits for its checkpoint
	broods   []brood
	forksAt  time.Time // when the children are looked at next

	w, h     int
	view     view
	focus    paneID
	returnTo paneID // where the agent view goes back to
	zoomed   bool
	layout   layout

	knobs        []knob.Knob
	selected     int
	knobsTop     int
	staged       map[string]knob.Value
	preview      preview
	message      string // one line under the knobs: why something did not work
	messageState changeState
	told         string          // one line at the foot, until the next key
	environ      termenv.Environ // of the person at this screen
	driver       string          // who drives instead of this screen, as drawn
	session      int64           // begins the ids of this screen's commands
	sent         int             // commands sent, for their ids

	eta      countdown
	cells    [4]int // the quantity of each chart
	axis     axis
	plane    plane     // of the map
	watched  time.Time // when the newest transition was asked for
	window   window
	smooth   int
	log      map[string]bool // quantities with a logarithmic axis
	cursor   int             // the inspected step
	cursorOn bool

	filter                 string
	eventsUpBy, eventsRoom int
	entry                  *entry
	dialog                 *dialog
	help                   bool
	page                   helpPage
	mouse                  bool
	interruptAt            time.Time
	stopRequested          bool
	next                   Outcome // what the person wants behind a run that is over
	stopAll                bool    // also the children of forks
	leaveSoon              bool    // as soon as the run has started
	leaving                bool    // a key has closed the screen
	machine                machine
	stderr                 interface{ lines() []string } // nil: stderr is not caught
	later                  tea.Cmd                       // to be started after this message
	rewinds                int                           // of a replay, as far as the history has them

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
	s := o.settings()
	keys, err := rebind(keysTable(), s.Keys)
	if err != nil {
		keys = keysTable()
	}
	m := &Model{
		options: o, settings: s, memory: loadRemembered(o.Home), theme: newTheme(r, o.Characters), keys: keys, now: o.clock(), environ: environment{},
		staged: map[string]knob.Value{}, log: map[string]bool{}, stale: true, mouse: s.Mouse,
		plane: plane{y: 1},
	}
	for i, id := range firstShown {
		m.cells[i], _ = quantityIndex(id)
	}
	for i := range viewCount {
		if viewNames[i] == s.Layout {
			m.view = i
		}
	}
	for i := range axisCount {
		if axisNames[i] == s.Axis {
			m.axis = i
		}
	}
	m.session = m.now().Unix()
	m.styleCharts()
	m.adopt(o)
	if o.Picker != nil {
		m.picker = newPicker(*o.Picker)
	}
	return m
}

// adopt takes the run that options describe.
func (m *Model) adopt(o Options) {
	m.options.Config, m.options.Device, m.options.Folder = o.Config, o.Device, o.Folder
	m.options.Names, m.options.Fork, m.options.Beside, m.options.Draw, m.options.Seat = o.Names, o.Fork, o.Beside, o.Draw, o.Seat
	m.options.References, m.options.Start, m.options.Replay, m.options.GPU = o.References, o.Start, o.Replay, o.GPU
	m.history = history{clock: clock{from: o.Config.StartSteps, utd: float64(o.Config.Knobs.UTD)}}
	m.sortKnobs()
}

// sortKnobs puts the knobs that the method uses before the others, and the cursor on the
// first.
func (m *Model) sortKnobs() {
	m.knobs, m.selected, m.knobsTop = knob.All(), 0, 0
	sortBy(m.knobs, func(k knob.Knob) int {
		if m.knobUse(k) != nil {
			return 1
		}
		return 0
	})
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
	return max(every, m.link.pace())
}

// Update takes one message; it does no input or output except Send, which does not
// block.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case polled:
		m.poll()
		later := m.later
		m.later = nil
		return m, tea.Batch(m.tick(), later, m.lookAtForks())
	case started:
		return m, m.begin(msg)
	case picked:
		return m, m.take(msg)
	case forecast:
		m.takeForecast(msg)
	case loaded:
		m.overlayRun(msg)
	case forked:
		m.takeForks(msg)
	case grown:
		m.takeGrown(msg)
	case tea.KeyMsg:
		cmd := m.keystrokes(msg)
		later := m.later
		m.later = nil
		return m, tea.Batch(cmd, later)
	case tea.MouseMsg:
		return m, m.mouseEvent(msg)
	case leaveNow:
		return m, m.suspend()
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
		return m.leave()
	}
	m.lab = msg.lab
	m.poll()
	m.changed()
	if m.leaveSoon {
		return m.suspend()
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
	for i := range m.cache {
		m.cache[i].lines = nil
	}
	m.changed()
}

// division is what the layout depends on.
func (m *Model) division() division {
	n := m.lessonRows(m.w, m.h)
	d := division{w: m.w, h: m.h - n, lesson: n, view: m.view, focus: m.focus, zoomed: m.zoomed, chart: paneChart1, panel: paneScores}
	if _, ok := cellOf(m.focus); ok {
		d.chart = m.focus
	} else if m.focus != paneSentence {
		d.panel = m.focus
	}
	return d
}

// changed says that the frame must be put together again.
func (m *Model) changed() { m.stale = true }

// poll looks at the lab: its newest snapshot, and the events since the last look.
func (m *Model) poll() {
	if s := int(m.now().Unix()); m.lab == nil && s != m.second && m.picker == nil {
		m.second = s // the starting line counts seconds
		m.changed()
	}
	if m.link.changedPace() {
		m.changed()
	}
	m.seated()
	if m.lab == nil {
		return
	}
	m.rewound()
	before := len(m.history.lines)
	events := m.lab.Events(m.history.next)
	for _, e := range events {
		m.history.take(e)
		m.minded(e)
		if b, ok := e.Body.(event.Checkpointed); ok {
			m.checkpointed(b)
		}
	}
	if m.eventsUpBy > 0 {
		m.eventsUpBy += len(m.history.lines) - before
	}
	if len(events) > 0 {
		m.changed()
	}
	if s := m.lab.Snapshot(); s != m.snap {
		m.snap = s
		m.observe(s)
		m.history.touch(paneKnobs, panePhase, paneScores, paneLosses, paneGenerator, paneMap, paneAgent, paneRuns, paneSentence)
		m.changed()
	}
	m.renewPreview()
	m.drain()
	m.lookAtLesson()
	m.askToLook()
	moving := m.snap.State == event.Running || m.snap.State == event.Starting // a screen of a run that stands still writes nothing
	if m.machine.look(m.now(), moving && m.layout.visible(paneSystem)) {
		m.history.touch(paneSystem)
		m.changed()
	}
}

// observe keeps what only a snapshot tells: speed over time.
func (m *Model) observe(s *event.Snapshot) {
	m.eta.take(s.Time, s.ETA)
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
