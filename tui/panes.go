package tui

import "pgrlab/core/knob"

// assemble makes the parts of a screen and wires them.
func assemble(r *runView, s Settings) *Model {
	m := &Model{runView: r, settings: s, focus: paneKnobs, stale: true, mouse: s.Mouse, cache: map[paneID]paneCache{}}
	r.host = m
	if r.about == nil {
		r.about = &m.options.About
	}
	for i := range viewCount {
		if viewNames[i] == s.Layout {
			m.view = i
		}
	}
	m.steering = &steering{runView: r, staged: map[string]knob.Value{}}
	m.charts = newCharts(r, s)
	m.knobs = &knobsPane{steering: m.steering}
	m.events = &eventsPane{runView: r}
	m.system = &systemPane{runView: r}
	m.runs = &runsPane{steering: m.steering}
	m.sentence = &sentencePane{runView: r}
	m.panes = m.table()
	m.watchers = []watcher{m.steering}
	for _, p := range m.panes {
		if w, ok := p.(watcher); ok {
			m.watchers = append(m.watchers, w)
		}
	}
	m.headline = &headline{runView: r}
	m.player = &player{runView: r, poll: m.poll}
	m.lessons = &lessons{steering: m.steering, look: m.lookAt, stageText: m.knobs.commandStage, inspecting: func() bool { return m.charts.cursorOn }}
	m.help = &helpPage{host: m, theme: r.theme, contents: m.helpContents, at: -1}
	m.leaving = &leaving{runView: r, steering: m.steering, runs: m.runs, picking: func() bool { return m.picker != nil },
		closeAll: func() { m.help.shown, m.entry = false, nil }}
	m.palette = &palette{runView: r, act: m.act, set: m.knobs.commandSet}
	m.palette.keys, m.palette.verbs = m.keysTable(), m.verbs()
	return m
}

// table lists the panes in the order of the focus, the tabs and, for the first nine, the
// number keys. Another pane is another line, before the sentence.
func (m *Model) table() []pane {
	r := m.runView
	return []pane{
		m.knobs,
		&chartPane{m.charts, paneChart1},
		&chartPane{m.charts, paneChart2},
		&scoresPane{steering: m.steering},
		&phasePane{r},
		&generatorPane{r},
		&mapPane{runView: r, plane: plane{y: 1}},
		m.events,
		m.system,
		&chartPane{m.charts, paneChart3},
		&chartPane{m.charts, paneChart4},
		&lossesPane{r},
		&agentPane{runView: r},
		m.runs,
		m.sentence,
	}
}

// helpContents is what the help explains now.
func (m *Model) helpContents() helpContents {
	c := helpContents{keys: m.palette.keys, focus: m.focus, verbs: m.palette.verbs, knobs: m.knobList, numbers: definitions}
	if m.picker != nil {
		c.here = m.picker.keys()
	}
	for _, p := range m.panes {
		if d, ok := p.(definer); ok {
			c.numbers = append(c.numbers[:len(c.numbers):len(c.numbers)], d.Definitions()...)
		}
	}
	return c
}

// screenParts are what the model gives messages to.
type screenParts struct {
	steering *steering
	charts   *charts
	knobs    *knobsPane
	events   *eventsPane
	system   *systemPane
	runs     *runsPane
	sentence *sentencePane
	headline *headline
	lessons  *lessons
	player   *player
	palette  *palette
	help     *helpPage
	leaving  *leaving
	picker   *picker // open before there is a run; nil: closed
}
