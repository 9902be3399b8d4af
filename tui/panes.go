package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/tui/ground"
	"pgrlab/tui/help"
	"pgrlab/tui/lesson"
	"pgrlab/tui/pane"
	"pgrlab/tui/pane/agent"
	"pgrlab/tui/pane/banner"
	"pgrlab/tui/pane/charts"
	"pgrlab/tui/pane/dreams"
	"pgrlab/tui/pane/events"
	"pgrlab/tui/pane/fans"
	"pgrlab/tui/pane/generations"
	"pgrlab/tui/pane/generator"
	"pgrlab/tui/pane/knobs"
	"pgrlab/tui/pane/losses"
	"pgrlab/tui/pane/maps"
	"pgrlab/tui/pane/phase"
	"pgrlab/tui/pane/runs"
	"pgrlab/tui/pane/scores"
	"pgrlab/tui/pane/sentence"
	"pgrlab/tui/pane/system"
	"pgrlab/tui/pane/whatif"
	"pgrlab/tui/picker"
	"pgrlab/tui/steer"
)

// assemble makes the parts of a screen and wires them.
func assemble(r *pane.Run, s Settings) *Model {
	m := &Model{Run: r, settings: s, focus: pane.Knobs, returnTo: pane.Knobs, mouse: s.Mouse, drawn: drawn{stale: true, cache: map[pane.ID]paneCache{}}}
	r.Screen = m
	kept := &memory{}
	if r.About == nil {
		r.About = &m.options.About
	}
	for i := range viewCount {
		if viewNames[i] == s.Layout {
			m.view = i
		}
	}
	m.steering = steer.New(r)
	m.charts = charts.New(r, s.Charts, s.Axis)
	m.knobs = knobs.New(m.steering)
	m.events = events.New(r, kept)
	m.system = system.New(r)
	m.runs = runs.New(r)
	m.fans = fans.New(m.steering, func() (int, bool) { return m.charts.Cursor, m.charts.CursorOn })
	m.whatIf = whatif.New(r)
	m.sentence = sentence.New(r)
	m.sentence.Pointed = m.charts.Pointed
	m.panes = m.table()
	m.ground = ground.New(m.steering)
	m.watchers = []pane.Watcher{m.steering, m.ground}
	for _, p := range m.panes {
		if w, ok := p.(pane.Watcher); ok {
			m.watchers = append(m.watchers, w)
		}
	}
	m.headline, m.projector = &headline{Run: r}, &projector{screen: m}
	m.player = &player{Run: r, poll: m.poll}
	m.lessons = lesson.New(m.steering, m.lookAt, m.knobs.CommandStage, func() bool { return m.charts.Inspecting() || m.ground.Shown() }, m.fans)
	m.help = help.New(m, r.Theme, m.helpContents)
	m.leaving = &leaving{Run: r, steering: m.steering, fans: m.fans, whatIf: m.whatIf, lessons: m.lessons, picking: func() bool { return m.picker != nil },
		asks:    func() bool { return m.dialog != nil && m.dialog.Title == quitTitle },
		stopped: func() tea.Msg { return m.pictures.Suspend() },
		closeAll: func() {
			m.help.Close()
			m.entry = nil
		}}
	m.palette = &palette{Run: r, memory: kept, lists: "tab after : lists all", act: m.act, set: m.knobs.CommandSet}
	m.palette.keys, m.palette.verbs = m.keysTable(), m.verbs()
	return m
}

// table lists the panes in the order of the focus, the tabs and, for the first nine, the number
// keys. Add a new pane as a line before the sentence.
func (m *Model) table() []pane.Pane {
	r := m.Run
	return []pane.Pane{
		m.knobs,
		m.charts.Pane(pane.Chart1),
		m.charts.Pane(pane.Chart2),
		scores.New(m.steering),
		phase.New(r),
		generator.New(r),
		maps.New(r),
		m.events,
		m.system,
		m.charts.Pane(pane.Chart3),
		m.charts.Pane(pane.Chart4),
		losses.New(r),
		agent.New(r),
		dreams.New(r),
		m.fans,
		m.runs,
		m.whatIf,
		generations.New(r),
		m.sentence,
		banner.New(r, m.fans.NextLook),
	}
}

// helpContents is what the help explains at present.
func (m *Model) helpContents() help.Contents {
	c := help.Contents{Short: help.InShort, Keys: m.palette.keys, Focus: m.focus, Verbs: m.palette.verbs, Knobs: m.KnobList, Numbers: help.Definitions}
	if !m.MayDrive() || m.About.Replay {
		c.Short = help.InShortToLook
	}
	if m.picker != nil {
		c.Here = m.picker.Keys()
	}
	for _, p := range m.panes {
		if d, ok := p.(pane.Definer); ok {
			c.Numbers = append(c.Numbers[:len(c.Numbers):len(c.Numbers)], d.Definitions()...)
		}
	}
	return c
}

// screenParts are the parts that the model gives messages to.
type screenParts struct {
	steering  *steer.Steering
	charts    *charts.Charts
	knobs     *knobs.Pane
	events    *events.Pane
	system    *system.Pane
	runs      *runs.Pane
	fans      *fans.Pane
	whatIf    *whatif.Pane
	sentence  *sentence.Pane
	headline  *headline
	projector *projector
	lessons   *lesson.Lessons
	ground    *ground.Box
	player    *player
	palette   *palette
	help      *help.Page
	leaving   *leaving
	picker    *picker.Picker // open before there is a run; nil: closed
}
