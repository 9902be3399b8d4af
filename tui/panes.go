package tui

// assemble makes the parts of a screen and wires them.
func assemble(r *runView, s Settings) *Model {
	m := &Model{runView: r, settings: s, focus: paneKnobs, mouse: s.Mouse, drawn: drawn{stale: true, cache: map[paneID]paneCache{}}}
	r.host = m
	kept := &memory{}
	if r.about == nil {
		r.about = &m.options.About
	}
	for i := range viewCount {
		if viewNames[i] == s.Layout {
			m.view = i
		}
	}
	m.steering = newSteering(r)
	m.charts = newCharts(r, s.Charts, s.Axis)
	m.knobs = newKnobs(m.steering)
	m.events = newEvents(r, kept)
	m.system = newSystem(r)
	m.runs = newRuns(m.steering)
	m.sentence = newSentence(r)
	m.panes = m.table()
	m.watchers = []watcher{m.steering}
	for _, p := range m.panes {
		if w, ok := p.(watcher); ok {
			m.watchers = append(m.watchers, w)
		}
	}
	m.headline = &headline{runView: r}
	m.player = &player{runView: r, poll: m.poll}
	m.lessons = newLessons(m.steering, m.lookAt, m.knobs.commandStage, m.charts.inspecting)
	m.help = newHelp(m, r.theme, m.helpContents)
	m.leaving = &leaving{runView: r, steering: m.steering, runs: m.runs, picking: func() bool { return m.picker != nil },
		closeAll: func() {
			m.help.close()
			m.entry = nil
		}}
	m.palette = &palette{runView: r, memory: kept, act: m.act, set: m.knobs.commandSet}
	m.palette.keys, m.palette.verbs = m.keysTable(), m.verbs()
	return m
}

// table lists the panes in the order of the focus, the tabs and, for the first nine, the
// number keys. Another pane is another line, before the sentence.
func (m *Model) table() []pane {
	r := m.runView
	return []pane{
		m.knobs,
		m.charts.pane(paneChart1),
		m.charts.pane(paneChart2),
		newScores(m.steering),
		newPhase(r),
		newGenerator(r),
		newMap(r),
		m.events,
		m.system,
		m.charts.pane(paneChart3),
		m.charts.pane(paneChart4),
		newLosses(r),
		newAgent(r),
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
