package presets

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"pgrlab/core/task"
)

//go:embed data/reference.toml
var referenceTOML string

// A Result is the evaluation return at the final step that somebody reported, as
// mean and standard deviation over seeds.
type Result struct {
	Task        string  `json:"task"`
	Method      string  `json:"method"`
	Observation string  `json:"observation"` // "state" or "pixels"
	Mean        float64 `json:"mean"`
	Std         float64 `json:"std"`
	Steps       int     `json:"steps"` // environment steps of the run
	// Frames is how many frames of the task these are, of learners that see them; 0 where
	// it is not known.
	Frames int    `json:"frames,omitempty"`
	Seeds  int    `json:"seeds"` // 0 where it is not said
	Source string `json:"source"`
	// Independent results are not the paper's: others measured them, with the
	// released code or with their own.
	Independent bool   `json:"independent,omitempty"`
	Note        string `json:"note,omitempty"`
}

// String is the result as it stands beside a curve: "paper 817 ± 36 at 100K", or
// "independent 411 ± 57 at 100K".
func (r Result) String() string {
	who := "paper"
	if r.Independent {
		who = "independent"
	}
	text := fmt.Sprintf("%s %.0f ± %.0f at %s", who, math.Round(r.Mean), math.Round(r.Std), thousands(r.Steps))
	if r.Frames > 0 {
		text += fmt.Sprintf(" (%s frames)", thousands(r.Frames))
	}
	return text
}

// Reference is the paper's result for a task and a method on such observations; ok is
// false where the paper has none.
func Reference(task, method, observation string) (r Result, ok bool) {
	for _, r := range References(task) {
		if r.Method == method && r.Observation == observation {
			return r, true
		}
	}
	return Result{}, false
}

// Beside is what stands beside a run of a method on a task on such observations:
// "paper 817 ± 36 at 100K; independent 411 ± 57 at 100K", or "". From pixels frames stand
// beside env steps, and last what an untrained policy has where that is known.
func Beside(of, method, observation string) string {
	var all []string
	if r, ok := Reference(of, method, observation); ok {
		all = append(all, r.String())
	}
	for _, r := range Independent(of) {
		if r.Method == method && r.Observation == observation {
			all = append(all, r.String())
		}
	}
	if v, known := Untrained(of, observation); known {
		all = append(all, fmt.Sprintf("untrained %.0f", v))
	}
	return strings.Join(all, "; ")
}

// Untrained is the return of a policy on such observations that has learned nothing, as others
// measured it.
func Untrained(of, observation string) (value float64, known bool) {
	for _, m := range Measures(of) {
		if m.What == untrained && observation == task.ObservationPixels {
			return m.Value, true
		}
	}
	return 0, false
}

// untrained is the measure of a policy from pixels that has learned nothing.
const untrained = "return of the untrained policy from pixels"

// References are all results of the paper for a task, in the order of its
// tables: also those of methods that this program does not have.
func References(task string) []Result { return results(task, false) }

// Independent are the results of others for a task.
func Independent(task string) []Result { return results(task, true) }

func results(task string, independent bool) []Result {
	var found []Result
	for _, r := range references().results {
		if r.Task == task && r.Independent == independent {
			found = append(found, r)
		}
	}
	return found
}

// A Measure is a number that is no return: a size, a time, an error.
type Measure struct {
	What        string  `json:"what"`
	Unit        string  `json:"unit,omitempty"`
	Task        string  `json:"task"`
	Method      string  `json:"method"`
	Value       float64 `json:"value"`
	Source      string  `json:"source"`
	Independent bool    `json:"independent,omitempty"`
	Note        string  `json:"note,omitempty"`
}

// Measures are those of a task.
func Measures(task string) []Measure {
	var found []Measure
	for _, m := range references().measures {
		if m.Task == task {
			found = append(found, m)
		}
	}
	return found
}

// referenceFile is the form of data/reference.toml: tables, each a list of columns,
// and measures, each a row of values.
type referenceFile struct {
	Table []struct {
		Source      string
		Independent bool
		Steps       int
		Seeds       int
		Observation string
		Repeat      int // frames of the task in an env step
		Note        string
		Task        []struct {
			Name    string
			Steps   int // where it differs from the table's
			Results []struct {
				Method string
				Mean   float64
				Std    float64
			}
		}
	}
	Measure []struct {
		Source           string
		Independent      bool
		What, Unit, Task string
		Note             string
		Values           []struct {
			Method string
			Value  float64
		}
	}
}

// reported is everything that data/reference.toml holds.
type reported struct {
	results  []Result
	measures []Measure
}

var references = sync.OnceValue(func() (all reported) {
	var f referenceFile
	d := toml.NewDecoder(strings.NewReader(referenceTOML)).DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		panic("presets: data/reference.toml: " + err.Error()) // embedded: a test reads it
	}
	for _, table := range f.Table {
		for _, task := range table.Task {
			steps := table.Steps
			if task.Steps > 0 {
				steps = task.Steps
			}
			for _, r := range task.Results {
				all.results = append(all.results, Result{
					Task: task.Name, Method: r.Method, Observation: table.Observation,
					Mean: r.Mean, Std: r.Std, Steps: steps, Frames: steps * table.Repeat, Seeds: table.Seeds, Source: table.Source,
					Independent: table.Independent, Note: table.Note,
				})
			}
		}
	}
	for _, m := range f.Measure {
		for _, v := range m.Values {
			all.measures = append(all.measures, Measure{
				What: m.What, Unit: m.Unit, Task: m.Task, Method: v.Method, Value: v.Value,
				Source: m.Source, Independent: m.Independent, Note: m.Note,
			})
		}
	}
	return all
})

// thousands writes a count of steps as the paper does: 100000 as 100K.
func thousands(n int) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return strconv.Itoa(n/1_000_000) + "M"
	case n >= 1_000 && n%1_000 == 0:
		return strconv.Itoa(n/1_000) + "K"
	}
	return strconv.Itoa(n)
}
