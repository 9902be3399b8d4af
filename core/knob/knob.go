// Package knob defines the values that can be changed while a run goes on: the table of
// knobs with their ranges (All), their values in a run (Settings), the positions at which
// they may change (Position) and the changes that are planned (Scheduled).
package knob

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"pgrlab/core/relevance"
	"pgrlab/core/run"
	"pgrlab/core/spelling"
)

// Class says what must be redone before a change of a knob shows in training.
type Class int

// The classes.
const (
	// ClassBatch: nothing; the next update uses the new value.
	ClassBatch Class = iota
	// ClassGeneration: D_syn is made again from the generator as it is.
	ClassGeneration
	// ClassRefit: real transitions are scored, the generator is fitted, and D_syn is
	// made again.
	ClassRefit
	// ClassRun: the value is fixed for a run.
	ClassRun
)

var classNames = [...]string{"batch", "generation", "refit", "run"}

// String is batch, generation, refit or run.
func (c Class) String() string { return classNames[c] }

// MarshalText writes String.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Kind is the type of a knob's values.
type Kind int

// The kinds.
const (
	KindFloat Kind = iota
	KindInt
	KindChoice
)

var kindNames = [...]string{"number", "count", "choice"}

// String is number, count or choice.
func (k Kind) String() string { return kindNames[k] }

// Scale says how a knob's values are spaced.
type Scale int

// The scales.
const (
	ScaleLinear Scale = iota // steps of Knob.Step
	ScaleLog                 // 1, 2, 5, 10, 20, …
)

// Value is the value of a knob: a number, or the text of a choice. Values are
// comparable.
type Value struct {
	Number float64
	Text   string // of a choice; "" for numbers
}

// Number is the value of a number or count.
func Number(x float64) Value { return Value{Number: x} }

// Choice is the value of a choice.
func Choice(text string) Value { return Value{Text: text} }

// String is the shortest text that reads back as v.
func (v Value) String() string {
	if v.Text != "" {
		return v.Text
	}
	if a := math.Abs(v.Number); a >= 1e-3 && a < 1e9 && v.Number == math.Trunc(v.Number) {
		return strconv.FormatFloat(v.Number, 'f', -1, 64)
	}
	return strconv.FormatFloat(v.Number, 'g', -1, 64)
}

// MarshalJSON writes a number or a string.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.Text != "" {
		return json.Marshal(v.Text)
	}
	return run.Float(v.Number).MarshalJSON()
}

// Use is the set of features that a method must have for a knob to have an effect.
type Use uint16

// The uses. A knob without any is used by every method. Those from UseUpdates to UseTV are features of
// learners, each for one knob.
const (
	UseGenerator Use = 1 << iota // synthetic transitions
	UseAgent                     // an agent that learns from them
	UsePrompts                   // a conditional generator
	UseDiffusion                 // a generator that denoises step by step
	UseFit                       // a generator that is fitted by gradient steps
	UseRollouts                  // a generator that rolls out the policy in a model
	UseBonus                     // a bonus added to the reward
	UseUpdates                   // a learner that makes updates in every env step
	UseBatches                   // a learner that samples batches
	UseActor                     // a learner whose policy has a learning rate
	UseCritics                   // a learner whose critics have a learning rate
	UseTargets                   // a learner whose target networks follow its networks
	UseEntropy                   // a learner whose loss weighs the entropy of its policy
	UseTV                        // a learner with discrete actions, as tasks with a TV require
	UsePrior                     // recorded data that are kept apart
)

// UseAlways is the use of knobs that every method has.
const UseAlways Use = 0

// Knob describes one value that can be changed while a run goes on. The screen,
// --set, --at, presets and the documentation are made from All.
type Knob struct {
	Name     string // in commands and files: "guidance"
	Symbol   string // in the paper: "ω"
	Typed    string // the symbol as keyboards have it: "omega"; "" if that is the symbol or the name
	Unit     string
	Doc      string // one line
	Class    Class
	Kind     Kind
	Min, Max float64  // range of numbers and counts, inclusive unless Above
	Above    bool     // Min itself is not allowed
	Choices  []string // the values of a choice
	Scale    Scale
	Step     float64 // distance between neighbours on a linear scale
	Use      Use
	// Previewable says that a preview can show how a value would affect generated
	// transitions, before anything is changed.
	Previewable bool

	read  func(*Settings) Value
	write func(*Settings, Value)
}

// Title is the knob's symbol, or its name if it has none.
func (k Knob) Title() string {
	if k.Symbol == "" {
		return k.Name
	}
	return k.Symbol
}

// All lists all knobs in the order in which they are shown. The slice belongs to the
// caller.
func All() []Knob { return append([]Knob(nil), table...) }

// Names are the names of all knobs in the order in which they are shown, and then their symbols as
// keyboards have them.
func Names() []string {
	var names, typed []string
	for _, k := range table {
		names = append(names, k.Name)
		if k.Typed != "" {
			typed = append(typed, k.Typed)
		}
	}
	return append(names, typed...)
}

// Called says whether name is the knob's name or its symbol, also as keyboards have it.
func (k Knob) Called(name string) bool {
	return name != "" && (name == k.Name || name == k.Symbol || name == k.Typed)
}

// Find returns the knob of that name or symbol; knobs.NAME, its key in config.toml, is the knob too.
// For an unknown name, the error suggests the nearest ones, or names the keys that are fixed for a run.
func Find(name string) (Knob, error) {
	name = strings.TrimPrefix(name, "knobs.")
	for _, k := range table {
		if k.Called(name) {
			return k, nil
		}
	}
	fixed := fixedKeys()
	if slices.Contains(fixed, name) {
		return Knob{}, fmt.Errorf("%q is no knob: keys of config.toml are set where a run begins", name)
	}
	switch near := Near(name); {
	case len(near) == 0:
		return Knob{}, fmt.Errorf("unknown knob %q", name)
	case slices.Contains(fixed, near[0]):
		return Knob{}, fmt.Errorf("%q is no knob: %s is set where a run begins", name, spelling.Alternatives(near))
	default:
		return Knob{}, fmt.Errorf("unknown knob %q: did you mean %s?", name, spelling.Alternatives(near))
	}
}

// Near returns the knobs for which a name that is none may stand, or, if there are none, the keys that
// are fixed for a run.
func Near(name string) []string {
	near, names := spelling.Near(name, slices.Concat(Names(), fixedKeys())), Names()
	if slices.ContainsFunc(near, func(n string) bool { return slices.Contains(names, n) }) {
		near = slices.DeleteFunc(near, func(n string) bool { return !slices.Contains(names, n) })
	}
	return near
}

// Parse reads a value and checks it.
func (k Knob) Parse(text string) (Value, error) {
	text = strings.TrimSpace(text)
	if k.Kind == KindChoice {
		if k.TakesFormulas() && !slices.Contains(k.Choices, text) {
			var err error
			if text, err = k.canonical(text); err != nil {
				return Value{}, err
			}
		}
		v := Choice(text)
		return v, k.Check(v)
	}
	x, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if n, whole := ParseCount(text); whole == nil && k.Kind == KindInt {
		x, err = float64(n), nil
	}
	if err != nil {
		return Value{}, fmt.Errorf("%s: %q is not a number: want %s", k.Name, text, k.Range())
	}
	v := Number(x)
	return v, k.Check(v)
}

// Check says what is wrong with a value, or returns nil.
func (k Knob) Check(v Value) error {
	if k.TakesFormulas() && relevance.IsFormula(v.Text) {
		_, err := k.canonical(v.Text)
		return err
	}
	x, good := v.Number, false
	switch k.Kind {
	case KindChoice:
		for _, c := range k.Choices {
			good = good || c == v.Text
		}
	case KindInt:
		good = x == math.Trunc(x) && x >= k.Min && x <= k.Max
	case KindFloat:
		good = x >= k.Min && x <= k.Max && !(k.Above && x == k.Min)
	}
	if good {
		return nil
	}
	if k.Kind != KindChoice {
		return fmt.Errorf("%s: %s is out of range: want %s", k.Name, v, k.Range())
	}
	if k.TakesFormulas() {
		if _, err := k.canonical("=" + v.Text); err == nil {
			return fmt.Errorf("%s: %q is a formula: write =%s", k.Name, v.Text, v.Text)
		}
	}
	if meant := spelling.Meant(v.Text, k.Choices); meant != "" {
		return fmt.Errorf("%s: %q is no choice: %s", k.Name, v.Text, meant)
	}
	return fmt.Errorf("%s: %q is no choice: want %s", k.Name, v.Text, k.Range())
}

// Range says in words which values are allowed: "a count from 1 to 40".
func (k Knob) Range() string {
	if k.TakesFormulas() {
		return "one of " + strings.Join(k.Choices, ", ") + ", or a formula, as =rank(td) + rank(curiosity)"
	}
	if k.Kind == KindChoice {
		return "one of " + strings.Join(k.Choices, ", ")
	}
	from := "from " + Number(k.Min).String()
	if k.Above {
		from = "above " + Number(k.Min).String()
	}
	return fmt.Sprintf("a %s %s to %s", k.Kind, from, Number(k.Max))
}

// Format writes a value for people.
func (k Knob) Format(v Value) string { return v.String() }

// Next is the neighbour of v in the direction of by, kept in range; by is +1 or −1, or a
// number of steps.
func (k Knob) Next(v Value, by int) Value {
	if k.Kind == KindChoice {
		for i, c := range k.Choices {
			if c == v.Text {
				return Choice(k.Choices[min(max(i+by, 0), len(k.Choices)-1)])
			}
		}
		return Choice(k.Choices[0])
	}
	x := v.Number
	for range max(by, -by) {
		x = k.neighbour(x, by > 0)
	}
	return Number(x)
}

// neighbour is the next number of the knob's scale, or x at the end of its range.
func (k Knob) neighbour(x float64, up bool) float64 {
	next := nextLinear
	if k.Scale == ScaleLog {
		next = nextLog
	}
	y := next(x, k.Step, up)
	if k.Kind == KindInt {
		y = math.Round(y)
	}
	y = min(max(y, k.Min), k.Max)
	if k.Above && y <= k.Min {
		return x
	}
	return y
}

// nextLinear is the next multiple of step.
func nextLinear(x, step float64, up bool) float64 {
	const slack = 1e-9
	n := math.Floor(x/step+slack) + 1
	if !up {
		n = math.Ceil(x/step-slack) - 1
	}
	return tidy(n * step)
}

// LogFloor is where a logarithmic range that includes 0 begins to be shown.
const LogFloor = 1e-6

// nextLog is the next number of the series …, 1, 2, 5, 10, 20, …; after 0 comes LogFloor.
func nextLog(x, _ float64, up bool) float64 {
	const slack = 1e-9
	switch {
	case x <= 0 && up:
		return LogFloor
	case x <= 0:
		return x
	}
	decade := math.Floor(math.Log10(x) + slack)
	best := x
	for d := decade - 1; d <= decade+1; d++ {
		for _, m := range []float64{1, 2, 5} {
			y := tidy(m * math.Pow(10, d))
			if up && y > x*(1+slack) {
				return y
			}
			if !up && y < x*(1-slack) {
				best = y
			}
		}
	}
	return best
}

// tidy removes rounding errors of a computation from a number of few digits.
func tidy(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (v *Value) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err == nil && text != "NaN" && text != "Inf" && text != "-Inf" {
		*v = Choice(text)
		return nil
	}
	var number run.Float
	if err := number.UnmarshalJSON(b); err != nil {
		return err
	}
	*v = Number(float64(number))
	return nil
}

// UnmarshalText reads what MarshalText wrote.
func (c *Class) UnmarshalText(text []byte) error {
	for i, name := range classNames {
		if name == string(text) {
			*c = Class(i)
			return nil
		}
	}
	return fmt.Errorf("%q is no class of knobs", text)
}
