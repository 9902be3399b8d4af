package presets

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"pgrlab/core/config"
	"pgrlab/core/task"
)

//go:embed data/reference.toml
var referenceTOML string

// A Result is a reported evaluation return at the final step, as mean and standard deviation over
// seeds.
type Result struct {
	Task        string  `json:"task"`
	Method      string  `json:"method"`
	Observation string  `json:"observation"` // "state" or "pixels"
	Mean        float64 `json:"mean"`
	Std         float64 `json:"std"`
	Steps       int     `json:"steps"` // environment steps of the run
	// Frames is the same number in frames of the task, for learners that see frames; 0 if unknown.
	Frames int    `json:"frames,omitempty"`
	TV     string `json:"tv,omitempty"` // knob tv of the runs; "": no TV, or any
	// Where is a remark on the number: how its runs differ from the runs that it is compared with.
	Where  string `json:"where,omitempty"`
	Seeds  int    `json:"seeds"` // 0 if not stated
	Source string `json:"source"`
	// Independent results are not the paper's: others measured them, with the released code or with
	// their own.
	Independent bool   `json:"independent,omitempty"`
	Note        string `json:"note,omitempty"`

	also string // another observation of runs that it is compared with
}

// String is the result as shown beside a curve: "paper 817 ± 36 at 100K", or "independent 411 ± 57
// at 100K". Small results have a decimal.
func (r Result) String() string {
	source := "paper"
	if r.Independent {
		source = "independent"
	}
	text := fmt.Sprintf("%s %s at %s", source, r.Spread(), thousands(r.Steps))
	if r.Frames > 0 {
		text += fmt.Sprintf(" (%s frames)", thousands(r.Frames))
	}
	if r.Where != "" {
		text += ", " + r.Where
	}
	return text
}

// fewDigits is the mean below which a result has a decimal.
const fewDigits = 30

// Spread is the mean and the deviation, "817 ± 36" or "16.3 ± 3.6".
func (r Result) Spread() string {
	if r.Mean < fewDigits {
		return fmt.Sprintf("%.1f ± %.1f", r.Mean, r.Std)
	}
	return fmt.Sprintf("%.0f ± %.0f", math.Round(r.Mean), math.Round(r.Std))
}

// Of is what a result and a run must have in common to be compared.
type Of struct{ Task, Method, Observation, TV string }

// OfRun is the Of of a run.
func OfRun(c config.Config) Of {
	return Of{c.Task, c.Method, c.Observation(), c.Knobs.Televised()}
}

// Of says whether a result is one of such runs.
func (r Result) Of(run Of) bool {
	return r.Task == run.Task && r.Method == run.Method && r.Sees(run.Observation) && (r.TV == "" || r.TV == run.TV)
}

// Sees says whether a result can be compared with runs with such observations.
func (r Result) Sees(observation string) bool {
	return observation == r.Observation || observation == r.also && r.also != ""
}

// Reference is the paper's result for such runs; ok is false if the paper has none.
func Reference(run Of) (r Result, ok bool) {
	for _, r := range References(run.Task) {
		if r.Of(run) {
			return r, true
		}
	}
	return Result{}, false
}

// named is String with whose result it is: "independent (son9ih/pgr) 411 ± 57 at 100K".
func (r Result) named() string {
	name, _, _ := strings.Cut(r.Source, ": ")
	return strings.Replace(r.String(), "independent ", "independent ("+name+") ", 1)
}

// Beside is the line of results to compare such a run with: "paper 817 ± 36 at 100K; independent
// (son9ih/pgr) 411 ± 57 at 100K", or "". Of a source's curve it has two points, the first in the file. From pixels,
// frames are given beside env steps, and the return of an untrained policy comes last if it is known.
func Beside(run Of) string {
	var all []string
	if r, ok := Reference(run); ok {
		all = append(all, r.String())
	}
	points := map[string]int{}
	for _, r := range Independent(run.Task) {
		if r.Of(run) && points[r.Source] < pointsBeside {
			points[r.Source]++
			all = append(all, r.named())
		}
	}
	if v, known := Untrained(run.Task, run.Observation); known {
		all = append(all, fmt.Sprintf("untrained %.0f", v))
	}
	return strings.Join(all, "; ")
}

// pointsBeside is how many points of a source's curve stand in a line.
const pointsBeside = 2

// Untrained is the return, as measured by others, of a policy on such observations that has learned
// nothing.
func Untrained(of, observation string) (value float64, known bool) {
	for _, m := range Measures(of) {
		if m.What == untrained && observation == task.ObservationPixels {
			return m.Value, true
		}
	}
	return 0, false
}

// untrained is the name of the measure for a policy from pixels that has learned nothing.
const untrained = "return of the untrained policy from pixels"

// References are all results of the paper for a task, in the order of its tables, including those
// of methods that this program does not have.
func References(task string) []Result { return results(task, false) }

// Independent are the results that others have measured for a task.
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

// A Measure is a number that is not a return: a size, a time, an error.
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

// Measures are the measures for a task.
func Measures(task string) []Measure {
	var found []Measure
	for _, m := range references().measures {
		if m.Task == task {
			found = append(found, m)
		}
	}
	return found
}

// referenceFile is the structure of data/reference.toml: tables, each a list of columns, and
// measures, each a row of values.
type referenceFile struct {
	Table []struct {
		Source      string
		Independent bool
		Steps       int
		Seeds       int
		Observation string
		Also        string // another observation that it is compared with
		TV          string
		Where       string
		Repeat      int // frames of the task in an env step
		Note        string
		Task        []struct {
			Name    string
			Steps   int    // if different from the table's
			Seeds   int    // the same
			Note    string // the same
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

// reported is everything in data/reference.toml.
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
			steps, seeds := cmp.Or(task.Steps, table.Steps), cmp.Or(task.Seeds, table.Seeds)
			for _, r := range task.Results {
				all.results = append(all.results, Result{
					Task: task.Name, Method: r.Method, Observation: table.Observation,
					Mean: r.Mean, Std: r.Std, Steps: steps, Frames: steps * table.Repeat,
					TV: table.TV, Where: table.Where, Seeds: seeds, Source: table.Source,
					Independent: table.Independent, Note: cmp.Or(task.Note, table.Note), also: table.Also,
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

// thousands writes a number of steps as the paper does: 100000 as 100K.
func thousands(n int) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return strconv.Itoa(n/1_000_000) + "M"
	case n >= 1_000 && n%1_000 == 0:
		return strconv.Itoa(n/1_000) + "K"
	}
	return strconv.Itoa(n)
}
