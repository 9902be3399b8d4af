package presets

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"pgrlab/core/knob"
)

//go:embed lessons
var lessons embed.FS

// lessonNames are the lessons in the order in which lists show them.
var lessonNames = []string{"pgr", "dormant", "guidance", "reward", "ratio", "dynamics", "noise", "fan", "worth", "ground", "couch", "couch-eco", "dream", "generations"}

// A Lesson explains one thing by what a running lab shows of it. None of its conclusions is written
// down beforehand: the measurements of its steps decide.
type Lesson struct {
	Name     string `toml:"-"`
	Title    string `toml:"title"`
	Doc      string `toml:"doc"`      // one line
	Minutes  int    `toml:"minutes"`  // approximately, on two cores with preset demo
	Needs    string `toml:"needs"`    // a knob that the run's method must use; "": any run
	Imagines bool   `toml:"imagines"` // the run's learner must have a model of the world
	Dreams   bool   `toml:"dreams"`   // it is for runs without an agent, and only for these
	Bonus    string `toml:"bonus"`    // the function of the bonus that the run must have; "": any, or none
	Steps    []Step `toml:"step"`
}

// A Step of a lesson says something, focuses, asks for a prediction, sets, waits, keeps numbers,
// and reveals, in this order; each part may be missing.
type Step struct {
	Say     string   `toml:"say"`
	Focus   string   `toml:"focus"`   // a quantity or a pane of the screen
	Ask     string   `toml:"ask"`     // the question that asks for a prediction
	Answers []string `toml:"answers"` // if missing: rises, falls, stays the same
	Set     []string `toml:"set"`     // "knob=value", with ! redone at once
	Stage   string   `toml:"stage"`   // "knob=value", staged only for its preview
	Wait    *Wait    `toml:"wait"`
	Keep    []Keep   `toml:"keep"`
	Reveal  *Reveal  `toml:"reveal"`
	Hold    bool     `toml:"hold"`    // training waits from here on, or from the phase that the step waits for, until the knobs are restored or a step waits for another phase
	Restore bool     `toml:"restore"` // restores the knobs that the lesson has set
}

// Does says whether the step does more than show a text.
func (s *Step) Does() bool {
	return s.Ask != "" || len(s.Set) > 0 || s.Stage != "" || s.Wait != nil || s.Restore
}

// Looks says whether the lesson changes nothing in a run, so that a replay can give it too.
func (l *Lesson) Looks() bool {
	return !slices.ContainsFunc(l.Steps, func(s Step) bool {
		return len(s.Set) > 0 || s.Stage != "" || s.Wait != nil && slices.Contains([]string{"previewed", "forked", "grounded"}, s.Wait.For)
	})
}

// A Wait lasts until Count events of a kind have happened since the step was carried out.
type Wait struct {
	For   string `toml:"for"`   // a kind in WaitKinds
	Count int    `toml:"count"` // 0: one
	Ever  bool   `toml:"ever"`  // events before the step count too
}

// Phase says whether the wait is for a phase of the run.
func (w *Wait) Phase() bool {
	if w == nil {
		return false
	}
	_, is := Phases[w.For]
	return is
}

// Phases are the phases of a run that a lesson can wait for, by the word for waiting.
var Phases = map[string]knob.Phase{"collecting": knob.Collect, "scoring": knob.Score, "fitting": knob.Fit, "generating": knob.Generate}

// WaitKinds are the kinds of events that a lesson can wait for: some events, and then Phases.
var WaitKinds = []string{"evaluated", "generated", "previewed", "in_force", "forked", "grounded", "collecting", "scoring", "fitting", "generating"}

// A Keep remembers a number under a name: the mean of the last measurements of a quantity, or a
// quantity that is described once at a time.
type Keep struct {
	Name string `toml:"name"`
	Of   string `toml:"of"`   // one in Measurable
	Last int    `toml:"last"` // number of measurements; 0: one
}

// Measurable are the quantities that a lesson can keep. Errors of D_syn, and the error of a
// constant on the same rows, are those of the newest generation. Returns of forks are those of the
// last forks that are done, for the changed children and for the others; ground is the return after the
// single updates of the newest Ground. off_high and off_low are the geometric means
// of the errors of rows of D_syn beside the truth, of the half of higher F and of the other half.
var Measurable = []string{"return", "dormant", "critic", "q_mean", "bias", "dynamics", "nearest", "outside", "obeyed", "real_rows", "preview_median", "preview_outside",
	"moved", "bonus", "accuracy", "p90", "entries", "reward_error", "constant_reward", "change", "constant_change", "fork_changed", "fork_control",
	"dream_next", "dream_far", "dream_held", "imagined", "replayed", "ground", "off_high", "off_low"}

// A Reveal compares two kept numbers with a claim.
type Reveal struct {
	From   string  `toml:"from"`
	To     string  `toml:"to"`
	Claim  string  `toml:"claim"`  // rises or falls
	Margin float64 `toml:"margin"` // the smallest meaningful difference, as a share of From
	Held   string  `toml:"held"`   // the text if the claim held; {name} is a kept number
	Failed string  `toml:"failed"`
	Unsure string  `toml:"unsure"`
	Zero   string  `toml:"zero"`  // in place of Unsure if both numbers are 0; "": Unsure
	Paper  string  `toml:"paper"` // the paper's finding
}

// Lessons are all lessons, complete and checked.
func Lessons() []Lesson {
	all := make([]Lesson, len(lessonNames))
	for i, name := range lessonNames {
		doc, err := lessons.ReadFile("lessons/" + name + ".toml")
		if err == nil {
			all[i], err = decodeLesson(name, string(doc))
		}
		if err != nil {
			panic(err) // embedded: a test reads every one
		}
	}
	return all
}

// decodeLesson reads a lesson and checks that its parts fit together.
func decodeLesson(name, doc string) (Lesson, error) {
	l := Lesson{Name: name}
	file := "lessons/" + name + ".toml"
	if err := decode(file, doc, &l); err != nil {
		return l, err
	}
	failed := func(i int, format string, args ...any) (Lesson, error) {
		return l, fmt.Errorf("read lesson: %s: step %d: %s", file, i+1, fmt.Sprintf(format, args...))
	}
	if l.Title == "" || l.Doc == "" || len(l.Steps) == 0 {
		return l, fmt.Errorf("read lesson: %s: needs title, doc and steps", file)
	}
	kept := map[string]bool{}
	for i := range l.Steps {
		s := &l.Steps[i]
		if s.Say == "" && s.Ask == "" && s.Reveal == nil {
			return failed(i, "says nothing")
		}
		if s.Ask != "" && len(s.Answers) == 0 {
			s.Answers = []string{"rises", "falls", "stays the same"}
		}
		if s.Wait != nil && !slices.Contains(WaitKinds, s.Wait.For) {
			return failed(i, "cannot wait for %q: want one of %s", s.Wait.For, strings.Join(WaitKinds, ", "))
		}
		for _, k := range s.Keep {
			if !slices.Contains(Measurable, k.Of) {
				return failed(i, "cannot keep %q: want one of %s", k.Of, strings.Join(Measurable, ", "))
			}
			kept[k.Name] = true
		}
		if r := s.Reveal; r != nil {
			if !kept[r.From] || !kept[r.To] {
				return failed(i, "reveals %q and %q, which were not both kept", r.From, r.To)
			}
			if r.Claim != "rises" && r.Claim != "falls" {
				return failed(i, "claim is %q: want rises or falls", r.Claim)
			}
			if r.Held == "" || r.Failed == "" || r.Unsure == "" || r.Paper == "" {
				return failed(i, "a reveal needs held, failed, unsure and paper")
			}
		}
	}
	return l, nil
}
