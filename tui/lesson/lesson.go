// Package lesson gives lessons that use the present run: they explain, set knobs, ask for a
// prediction, and judge it by the run's own numbers. The texts of the lessons are in package
// presets.
package lesson

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/presets"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/steer"
)

// LessonPart is how far a step of a lesson has come.
type LessonPart int

// The parts of a step, in order.
const (
	Reading  LessonPart = iota // until the person goes on, or predicts
	Awaiting                   // until the event that the step waits for has happened
	Revealed                   // until the person goes on
)

// Lesson is a lesson in progress.
type Lesson struct {
	presets.Lesson
	At      int // index of the step
	Part    LessonPart
	since   map[string]int // counts of events when the step was carried out, by kind
	kept    map[string]measured
	answer  string                // to the last question
	before  map[string]knob.Value // earlier values of the knobs that the lesson has set
	order   []string              // order in which these were set
	asked   []*history.Change     // what the step has asked for
	holds   bool                  // training waits for the lesson
	refused string                // why the step could not be carried out, or the last one not be measured
}

// Step is the current step.
func (l *Lesson) Step() presets.Step { return l.Steps[l.At] }

// Lessons gives lessons that use the run.
type Lessons struct {
	*steer.Steering
	*Lesson                            // the lesson in progress; nil: none
	look       func(name string) error // moves the focus to a quantity or a pane
	stageText  func(text string) error // stages a knob as the palette's command does
	inspecting func() bool             // whether esc first removes the charts' cursor
	forks      Forks
	gone       map[string]bool // lessons that were gone through to their ends, by name
}

// Forks are the children of the run.
type Forks interface {
	// Over is how many groups of children are done.
	Over() int
	// Under counts the children of the groups that are not over: how many are done, and of how
	// many.
	Under() (done, of int)
	// Returns are the scores of the children in the newest group that is over, and whether they are
	// seen to differ: 1 if changed ones return more, -1 if they return less, 0 if not.
	Returns() (changed, control []float64, seen int)
}

// New gives lessons by steering the run: look moves the focus to a quantity, a pane or the loop, and
// with "" from the loop to the layout of before; stage stages
// a knob, inspecting says whether esc first removes a cursor.
func New(s *steer.Steering, look, stage func(string) error, inspecting func() bool, forks Forks) *Lessons {
	return &Lessons{Steering: s, look: look, stageText: stage, inspecting: inspecting, forks: forks, gone: map[string]bool{}}
}

// choiceKeys are the keys of the lessons in the list, one press each.
var choiceKeys = strings.Split("123456789abcdefghijklm", "")

// Given says whether a lesson is in progress.
func (x *Lessons) Given() bool { return x.Lesson != nil }

// OpenLessons asks which lesson to give.
func (x *Lessons) OpenLessons() tea.Cmd {
	if x.Lesson != nil {
		return x.leaveLesson()
	}
	if err := x.begins(); err != nil {
		x.Tell(err.Error())
		return nil
	}
	d := &pane.Dialog{Title: "lessons", Lines: []string{"Those that set knobs of this run put them back; it then counts as touched."}}
	if x.About.Replay {
		d.Lines = []string{"They go to moments of this recording; lessons that set knobs need a run."}
	}
	var others []string
	for _, l := range x.listed() {
		if missing, err := x.lessonFits(l); err != nil {
			others = append(others, x.Theme.Dim.On(x.Spelled(fmt.Sprintf("  %s: %s", l.Title, missing))))
			continue
		}
		d.Choices = append(d.Choices, pane.Choice{Key: choiceKeys[len(d.Choices)], Label: x.Spelled(l.Title) + ", " + x.cost(l),
			Action: func() tea.Cmd { return x.Report(x.beginLesson(l)) }})
	}
	if len(others) > 0 {
		d.Below = append([]string{x.Theme.Dim.On("Not in this run:")}, others...)
	}
	d.Choices = append(d.Choices, pane.Choice{Key: "esc", Label: "not now", Action: nil})
	x.Question(d)
	return nil
}

// begins returns an error if no lesson can be given now.
func (x *Lessons) begins() error {
	switch {
	case x.About.Replay && x.About.Scenes == nil:
		return errors.New("lessons steer a run, and this is a replay: pgrlab, then T")
	case !x.About.Replay && !x.MayDrive():
		return pane.ErrWatchOnly
	case x.Lab == nil, x.Ended() && !x.About.Replay:
		return errors.New("lessons need a run that goes on: pgrlab, then T")
	}
	return nil
}

// CommandLesson begins the lesson of the given name.
func (x *Lessons) CommandLesson(name string) error {
	if !x.About.Replay {
		if err := x.Fixed(); err != nil {
			return err
		}
		if x.Ended() {
			return event.ErrEnded
		}
	}
	if x.Lab == nil || x.Snap == nil {
		return errors.New("lesson: the run has not begun: wait for its first steps")
	}
	if err := x.begins(); err != nil {
		return err
	}
	for _, l := range presets.Lessons() {
		if l.Name == name {
			return x.beginLesson(l)
		}
	}
	return fmt.Errorf("lesson: want one of %s", strings.Join(LessonNames(), ", "))
}

// LessonNames are the names of the lessons.
func LessonNames() []string {
	var out []string
	for _, l := range presets.Lessons() {
		out = append(out, l.Name)
	}
	return out
}

func (x *Lessons) beginLesson(l presets.Lesson) error {
	if x.Lesson != nil { // only it has the knobs that are to be put back
		return fmt.Errorf("lesson %s is under way: leave it first, with esc", x.Lesson.Name)
	}
	if _, err := x.lessonFits(l); err != nil {
		return err
	}
	clear(x.Staged)
	x.Lesson = &Lesson{Lesson: l, kept: map[string]measured{}, before: map[string]knob.Value{}}
	x.enterStep("")
	return nil
}

// enterStep shows a step: what it says and where to look. lacking says why the last step could not
// be measured; "": it could.
func (x *Lessons) enterStep(lacking string) {
	l := x.Lesson
	s := l.Step()
	l.Part, l.refused = Reading, lacking
	x.lookAt(s.Focus)
	switch {
	case s.Reveal != nil, l.At+1 == len(l.Steps) && !s.Does():
		l.Part = Revealed // the person can only go on
	case s.Ask == "" && len(s.Set) == 0 && s.Stage == "" && s.Wait != nil:
		x.doStep() // the person has nothing to decide
	}
	x.Relayout()
}

// lookAt moves the focus to what a step is about; "": the focus stays.
func (x *Lessons) lookAt(name string) {
	if name != "" {
		x.Report(x.look(name))
	}
}

// doStep carries out what the step says, and begins to wait. After a refusal the person can try
// again.
func (x *Lessons) doStep() {
	l := x.Lesson
	l.since, l.asked, l.refused = x.happened(), nil, ""
	if err := x.carryOut(l.Step()); err != nil {
		x.stay(err)
		return
	}
	l.Part = Awaiting
	x.Poll()
	x.Relayout()
}

// carryOut sets, puts back or stages what a step says, up to the first refusal.
func (x *Lessons) carryOut(s presets.Step) error {
	clear(x.Staged)
	if s.Wait.Phase() {
		return x.reach(presets.Phases[s.Wait.For]) // it is held there
	}
	if s.Hold {
		if err := x.hold(); err != nil {
			return err
		}
	}
	for _, text := range s.Set {
		if err := x.lessonSet(text, steer.AtOnce); err != nil {
			return err
		}
	}
	if s.Restore {
		if err := x.PutBack(); err != nil {
			return err
		}
	}
	if s.Stage == "" {
		return nil
	}
	a, err := x.ParseAssignment(s.Stage)
	if err == nil {
		err = x.stageText(s.Stage)
		x.lookAt(s.Focus)
	}
	if _, staged := x.Staged[a.Knob.Name]; err == nil && !staged {
		err = fmt.Errorf("the run has %s = %s already: give it another value first, with :set %s VALUE", x.KnobTitle(a.Knob.Name), pane.Readable(a.Value), a.Knob.Name)
	}
	return err
}

// stay lets the person try a step again that was refused.
func (x *Lessons) stay(why error) {
	x.Lesson.Part, x.Lesson.refused = Reading, why.Error()
	x.Relayout()
}

// Poll goes on once the events that the step waits for have happened, unless the lab has refused
// what the step asked for.
func (x *Lessons) Poll() {
	l := x.Lesson
	if l == nil || l.Part != Awaiting || x.Snap == nil {
		return
	}
	if err := refusal(l.asked...); err != nil {
		x.stay(err)
		return
	}
	if done, of := x.awaited(); done < of {
		x.Changed()
		return
	}
	if s := l.Step(); s.Hold && s.Wait.Phase() {
		x.Report(x.hold())
	}
	for _, k := range l.Step().Keep {
		l.kept[k.Name] = x.measureNow(k)
	}
	if l.At+1 == len(l.Steps) || l.Step().Wait.Phase() {
		l.Part = Revealed // the person goes on, or closes the lesson
		x.Relayout()
		return
	}
	lacking := x.lacking()
	l.At++
	x.enterStep(lacking)
}

// Key handles the keys of a lesson; false leaves the key to the screen.
func (x *Lessons) Key(key string) (tea.Cmd, bool) {
	l := x.Lesson
	s := l.Step()
	if n, err := strconv.Atoi(key); err == nil && l.Part == Reading && s.Ask != "" && n >= 1 && n <= len(s.Answers) {
		l.answer = s.Answers[n-1]
		x.doStep()
		return nil, true
	}
	switch {
	case key == "enter" && l.Part == Reading && s.Ask == "" && (len(x.Staged) == 0 || s.Stage != ""):
		x.doStep()
		return nil, true
	case key == "enter" && l.Part == Awaiting && s.Wait.Phase():
		return nil, true // it goes on by itself
	case key == "enter" && l.Part == Revealed:
		if l.At+1 == len(l.Steps) {
			return x.leaveLesson(), true
		}
		if s.Reveal != nil {
			l.answer = "" // it belonged to this step
		}
		l.At++
		x.enterStep("")
		return nil, true
	case key == "esc" && x.Message == "" && !x.inspecting() && (len(x.Staged) == 0 || s.Stage != ""):
		return x.leaveLesson(), true
	}
	return nil, false
}

// Changes are the knobs that the lesson in progress has changed, with the values to put back.
func (x *Lessons) Changes() []string {
	l := x.Lesson
	if l == nil {
		return nil
	}
	var changed []string
	for _, name := range l.order {
		if x.coming(name) == l.before[name] { // what the lesson asked for was refused
			continue
		}
		changed = append(changed, fmt.Sprintf("%s %s %s", x.KnobTitle(name), x.Theme.Glyphs.Arrow, pane.Readable(l.before[name])))
	}
	return changed
}

// leaveLesson ends a lesson, and asks what to do with the knobs that it has set.
func (x *Lessons) leaveLesson() tea.Cmd {
	end := func() tea.Cmd {
		x.Release()
		l := x.Lesson
		x.Lesson = nil
		x.Report(x.look(""))                              // the layout is that of before
		if l.At+1 == len(l.Steps) && l.Part == Revealed { // what it staged last stays for the person to apply
			x.gone[l.Name] = true
			x.Tell(x.summary(l))
		} else {
			x.DropStaged()
		}
		x.Relayout()
		return nil
	}
	changed := x.Changes()
	if len(changed) == 0 || x.Ended() {
		return end()
	}
	x.Question(&pane.Dialog{Title: "leave the lesson", Lines: []string{"It has changed knobs of this run."}, Choices: []pane.Choice{
		{Key: "enter", Label: "put back " + strings.Join(changed, ", "), Action: func() tea.Cmd {
			if err := x.PutBack(); err != nil {
				return x.Report(err)
			}
			return end()
		}},
		{Key: "k", Label: "keep them as they are", Action: end},
		{Key: "esc", Label: "go on with the lesson", Action: nil},
	}})
	return nil
}
