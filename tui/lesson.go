package tui

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/presets"
)

// lessonPart is how far a step of a lesson has come.
type lessonPart int

// The parts of a step, in their order.
const (
	reading  lessonPart = iota // until the person goes on, or predicts
	awaiting                   // until what the step waits for has happened
	revealed                   // until the person goes on
)

// lesson is one that is being given.
type lesson struct {
	presets.Lesson
	at      int // the step
	part    lessonPart
	since   map[string]int // what had happened when the step began, by kind
	kept    map[string]measured
	answer  string                // to the last question
	before  map[string]knob.Value // of the knobs that the lesson has set
	order   []string              // of these
	refused string                // why the step could not be done
}

func (l *lesson) step() presets.Step { return l.Steps[l.at] }

// lessons gives lessons that use the run.
type lessons struct {
	*steering
	*lesson                            // that is being given; nil: none
	look       func(name string) error // moves the focus to a quantity or a pane
	stageText  func(text string) error // stages a knob as the palette's command does
	inspecting func() bool             // whether esc takes the charts' cursor away first
}

// newLessons gives lessons by steering the run: look moves the focus to a quantity or a
// pane, stage stages a knob, inspecting says whether esc takes a cursor away first.
func newLessons(s *steering, look, stage func(string) error, inspecting func() bool) *lessons {
	return &lessons{steering: s, look: look, stageText: stage, inspecting: inspecting}
}

// given says whether a lesson is being given.
func (m *lessons) given() bool { return m.lesson != nil }

// openLessons asks which lesson to give.
func (m *lessons) openLessons() tea.Cmd {
	if m.lesson != nil {
		return m.leaveLesson()
	}
	if m.about.Replay {
		m.tell("lessons steer a run, and this is a replay: pgrlab, then T")
		return nil
	}
	if m.lab == nil || m.ended() {
		m.tell("lessons need a run that goes on: pgrlab, then T")
		return nil
	}
	d := &dialog{title: "lessons", lines: []string{"They set knobs of this run and put them back; the run counts as touched."}}
	for i, l := range presets.Lessons() {
		label := fmt.Sprintf("%s, about %d min", m.spelled(l.Title), l.Minutes)
		if err := m.lessonFits(l); err != nil {
			label = m.theme.dim.on(m.spelled(l.Title) + ": " + m.about.Config.Method + " does not use " + l.Needs)
		}
		d.choices = append(d.choices, choice{strconv.Itoa(i + 1), label, func() tea.Cmd { return m.report(m.beginLesson(l)) }})
	}
	d.choices = append(d.choices, choice{"esc", "not now", nil})
	m.question(d)
	return nil
}

// lessonFits says whether the run has what a lesson is about.
func (m *lessons) lessonFits(l presets.Lesson) error {
	if l.Needs == "" {
		return nil
	}
	k, err := knob.Find(l.Needs)
	if err == nil {
		err = m.knobUse(k)
	}
	if err != nil {
		return fmt.Errorf("lesson %s: %w", l.Name, err)
	}
	return nil
}

// commandLesson begins a lesson by its name.
func (m *lessons) commandLesson(name string) error {
	if m.about.Replay {
		return ErrReplay
	}
	if m.lab == nil || m.ended() {
		return event.ErrEnded
	}
	for _, l := range presets.Lessons() {
		if l.Name == name {
			return m.beginLesson(l)
		}
	}
	return fmt.Errorf("lesson: want one of %s", strings.Join(lessonNames(), ", "))
}

func lessonNames() []string {
	var out []string
	for _, l := range presets.Lessons() {
		out = append(out, l.Name)
	}
	return out
}

func (m *lessons) beginLesson(l presets.Lesson) error {
	if err := m.lessonFits(l); err != nil {
		return err
	}
	clear(m.staged)
	m.lesson = &lesson{Lesson: l, kept: map[string]measured{}, before: map[string]knob.Value{}}
	m.enterStep()
	return nil
}

// enterStep shows a step: what it says and where to look.
func (m *lessons) enterStep() {
	l := m.lesson
	s := l.step()
	l.part, l.since, l.refused = reading, m.happened(), ""
	m.lookAt(s.Focus)
	switch {
	case s.Reveal != nil:
		l.part = revealed
	case s.Ask == "" && len(s.Set) == 0 && s.Stage == "" && s.Wait != nil:
		m.doStep() // there is nothing to decide
	}
	m.relayout()
}

// lookAt moves the focus to what a step is about; "": it stays.
func (m *lessons) lookAt(name string) {
	if name != "" {
		m.report(m.look(name))
	}
}

// doStep sets or stages what the step says, and begins to wait.
func (m *lessons) doStep() {
	l := m.lesson
	s := l.step()
	clear(m.staged)
	for _, text := range s.Set {
		if err := m.lessonSet(text, atOnce); err != nil {
			l.refused = err.Error()
		}
	}
	if s.Restore {
		for _, name := range l.order {
			if err := m.lessonSet(name+"="+l.before[name].String(), whenDue); err != nil {
				l.refused = err.Error()
			}
		}
		l.order, l.before = nil, map[string]knob.Value{}
	}
	if s.Stage != "" {
		if err := m.stageText(s.Stage); err != nil {
			l.refused = err.Error()
		}
		m.lookAt(s.Focus)
	}
	l.part = awaiting
	m.poll()
	m.relayout()
}

// lessonSet asks for a change in the name of the lesson; ! in the text redoes at
// once what depends on it.
func (m *lessons) lessonSet(text string, when urgency) error {
	a, err := m.parseAssignment(text)
	if err != nil {
		return err
	}
	k := a.knob
	now := m.effective(k.Name)
	if now == a.value {
		return nil
	}
	if _, ok := m.lesson.before[k.Name]; !ok && when == atOnce {
		m.lesson.before[k.Name] = now
		m.lesson.order = append([]string{k.Name}, m.lesson.order...)
	}
	c := &change{knob: k.Name, from: now, to: a.value, class: k.Class, now: a.now && k.Class != knob.ClassBatch}
	m.ask(c, func(ref string) event.Command {
		return event.SetKnob{ID: ref, Knob: k.Name, Value: a.value.String(), Now: c.now, By: "lesson " + m.lesson.Name}
	})
	if c.state == refused {
		return fmt.Errorf("%s: %s", k.Name, c.why)
	}
	return nil
}

// happened counts what a lesson can wait for.
func (m *lessons) happened() map[string]int {
	h := &m.history
	inForceNow := 0
	for _, c := range h.changes {
		if c.state == inForce {
			inForceNow++
		}
	}
	previews := 0
	if m.previewed() != nil {
		previews = 1 // of what is staged now
	}
	return map[string]int{"evaluated": len(h.dormant), "generated": h.generations, "previewed": previews, "in_force": inForceNow}
}

// awaited is how much of what the step waits for has happened, and of how much.
func (m *lessons) awaited() (done, of int) {
	w := m.lesson.step().Wait
	if w == nil {
		return 1, 1
	}
	done, of = m.happened()[w.For], max(1, w.Count)
	if !w.Ever && w.For != "previewed" { // a preview is of what the step staged
		done -= m.lesson.since[w.For]
	}
	return min(done, of), of
}

// poll goes on when what the step waits for has happened.
func (m *lessons) poll() {
	l := m.lesson
	if l == nil || l.part != awaiting || m.snap == nil {
		return
	}
	if done, of := m.awaited(); done < of {
		m.changed()
		return
	}
	for _, k := range l.step().Keep {
		l.kept[k.Name] = m.measureNow(k)
	}
	if l.at+1 == len(l.Steps) {
		l.part = revealed // the person closes the lesson
		m.relayout()
		return
	}
	l.at++
	m.enterStep()
}

// key takes the keys of a lesson; false leaves the key to the screen.
func (m *lessons) key(key string) (tea.Cmd, bool) {
	l := m.lesson
	s := l.step()
	if n, err := strconv.Atoi(key); err == nil && l.part == reading && s.Ask != "" && n >= 1 && n <= len(s.Answers) {
		l.answer = s.Answers[n-1]
		m.doStep()
		return nil, true
	}
	switch {
	case key == "enter" && l.part == reading && s.Ask == "" && (len(m.staged) == 0 || s.Stage != ""):
		m.doStep()
		return nil, true
	case key == "enter" && l.part == revealed:
		if l.at+1 == len(l.Steps) {
			return m.leaveLesson(), true
		}
		if s.Reveal != nil {
			l.answer = "" // it was about this one
		}
		l.at++
		m.enterStep()
		return nil, true
	case key == "esc" && m.message == "" && !m.inspecting() && (len(m.staged) == 0 || s.Stage != ""):
		return m.leaveLesson(), true
	}
	return nil, false
}

// leaveLesson ends a lesson, and asks about the knobs that it has set.
func (m *lessons) leaveLesson() tea.Cmd {
	l := m.lesson
	end := func() tea.Cmd {
		m.lesson = nil
		m.dropStaged()
		m.relayout()
		return nil
	}
	if len(l.order) == 0 || m.ended() {
		return end()
	}
	var changed []string
	for _, name := range l.order {
		changed = append(changed, fmt.Sprintf("%s %s %s", m.knobTitle(name), m.theme.glyphs.arrow, readable(l.before[name])))
	}
	m.question(&dialog{title: "leave the lesson", lines: []string{"It has changed knobs of this run."}, choices: []choice{
		{"enter", "put back " + strings.Join(changed, ", "), func() tea.Cmd {
			for _, name := range l.order {
				if err := m.lessonSet(name+"="+l.before[name].String(), whenDue); err != nil {
					m.report(err)
				}
			}
			return end()
		}},
		{"k", "keep them as they are", end},
		{"esc", "go on with the lesson", nil},
	}})
	return nil
}

// measured is a number that a lesson keeps, with its standard error where several
// measurements went into it.
type measured struct{ value, err float64 }

// measureNow takes a number of the run as it is; NaN where there is none.
func (m *lessons) measureNow(k presets.Keep) measured {
	none := measured{math.NaN(), 0}
	g, p := m.history.generated, m.previewed()
	one := func(v float64) measured { return measured{v, 0} }
	switch k.Of {
	case "nearest", "outside", "obeyed":
		switch {
		case g == nil || k.Of == "obeyed" && g.Obeyed == nil:
			return none
		case k.Of == "nearest":
			return one(float64(g.Nearest))
		case k.Of == "outside":
			return one(float64(g.OutsideStates))
		}
		return one(float64(*g.Obeyed))
	case "real_rows":
		return one(float64(m.snap.MixReal))
	case "preview_median", "preview_outside":
		switch {
		case p == nil:
			return none
		case k.Of == "preview_median":
			return one(p.Preview.Median)
		}
		return one(p.Outside)
	}
	c := m.history.curve(curveOf[k.Of], 0)
	if c == nil || len(c.samples) == 0 {
		return none
	}
	return meanOf(c.samples[max(0, len(c.samples)-max(1, k.Last)):])
}

// curveOf are the curves that a lesson can measure.
var curveOf = map[string]curveName{"return": curveReturn, "dormant": curveSokar, "critic": curveCritic, "q_mean": curveQMean,
	"bias": curveQBias, "dynamics": curveDynamics}

// meanOf is the mean of measurements and its standard error; 0 of a single one.
func meanOf(samples []sample) measured {
	var sum, squares float64
	n := float64(len(samples))
	for _, s := range samples {
		sum += s.y
	}
	mean := sum / n
	for _, s := range samples {
		squares += (s.y - mean) * (s.y - mean)
	}
	if n < 2 {
		return measured{mean, 0}
	}
	return measured{mean, math.Sqrt(squares / (n - 1) / n)}
}

// verdict is what came of a claim.
type verdict int

// The verdicts.
const (
	cannotTell verdict = iota
	held
	didNotHold
)

// judge holds a claim to two numbers. A difference counts that exceeds two standard
// errors of it, and the share of the first number that the lesson asks for.
func judge(r presets.Reveal, from, to measured) verdict {
	d := to.value - from.value
	least := math.Max(2*math.Hypot(from.err, to.err), r.Margin*math.Abs(from.value))
	switch {
	case math.IsNaN(d) || math.Abs(d) <= least:
		return cannotTell
	case (d > 0) == (r.Claim == "rises"):
		return held
	default:
		return didNotHold
	}
}
