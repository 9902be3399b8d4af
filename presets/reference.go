package presets

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

//go:embed data/reference.toml
var referenceTOML string

// A Result is one number printed in the paper: the evaluation return at the
// final step, as mean and standard deviation over seeds.
type Result struct {
	Task        string  `json:"task"`
	Method      string  `json:"method"`
	Observation string  `json:"observation"` // "state" or "pixels"
	Mean        float64 `json:"mean"`
	Std         float64 `json:"std"`
	Steps       int     `json:"steps"` // environment steps of the run
	Seeds       int     `json:"seeds"` // 0 where the paper does not say
	Source      string  `json:"source"`
}

// String is the result as it stands beside a curve: "paper 817 ± 36 at 100K".
func (r Result) String() string {
	return fmt.Sprintf("paper %.0f ± %.0f at %s", math.Round(r.Mean), math.Round(r.Std), thousands(r.Steps))
}

// Reference is the paper's result for a task and a method on state
// observations; ok is false where the paper has none.
func Reference(task, method string) (r Result, ok bool) {
	for _, r := range References(task) {
		if r.Method == method && r.Observation == "state" {
			return r, true
		}
	}
	return Result{}, false
}

// References are all results of the paper for a task, in the order of its
// tables: also those of methods that this program does not have.
func References(task string) []Result {
	var found []Result
	for _, r := range references() {
		if r.Task == task {
			found = append(found, r)
		}
	}
	return found
}

// referenceFile is the form of data/reference.toml: a list of the paper's
// tables, each a list of columns.
type referenceFile struct {
	Table []struct {
		Source      string
		Steps       int
		Seeds       int
		Observation string
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
}

var references = sync.OnceValue(func() []Result {
	var f referenceFile
	d := toml.NewDecoder(strings.NewReader(referenceTOML)).DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		panic("presets: data/reference.toml: " + err.Error()) // embedded: a test reads it
	}
	var all []Result
	for _, table := range f.Table {
		for _, task := range table.Task {
			steps := table.Steps
			if task.Steps > 0 {
				steps = task.Steps
			}
			for _, r := range task.Results {
				all = append(all, Result{
					Task: task.Name, Method: r.Method, Observation: table.Observation,
					Mean: r.Mean, Std: r.Std, Steps: steps, Seeds: table.Seeds, Source: table.Source,
				})
			}
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
