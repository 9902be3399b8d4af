package presets

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/task"
)

//go:embed data/measured.toml
var measuredTOML string

// Expected is the result of this program's runs of a method on a task at a scale, as mean and
// standard deviation of their scores: what to expect from such a run.
type Expected struct {
	Task        string  `json:"task"`
	Method      string  `json:"method"`
	Observation string  `json:"observation"`
	TV          string  `json:"tv,omitempty"` // knob tv of the runs; "": knob.TVOff
	Scale       string  `json:"scale"`
	Preset      string  `json:"preset,omitempty"` // the preset of settings that differ from the scale's
	Mean        float64 `json:"mean"`
	Std         float64 `json:"std"`
	Runs        int     `json:"runs"`
	From        int     `json:"from"`  // env step of the first evaluation in a score
	Steps       int     `json:"steps"` // env step of the last one: the end of the runs
	// Frames is the same number in frames of the task, for runs from pixels; else 0.
	Frames int    `json:"frames,omitempty"`
	Source string `json:"source"`
	// Results are the files with all their evaluations.
	Results []string `json:"results,omitempty"`
}

// Spread is the result in readable form: "307 ± 98".
func (e Expected) Spread() string {
	return fmt.Sprintf("%.0f ± %.0f", math.Round(e.Mean), math.Round(e.Std))
}

// measuredFile is the structure of data/measured.toml.
type measuredFile struct {
	Table []struct {
		Source, Scale, Preset, Observation, TV string
		Results                                []string
		From, Steps                            int
		Task                                   []struct {
			Name    string
			Results []struct {
				Method    string
				Mean, Std float64
				Runs      int
			}
		}
	}
}

// Measured are all results of this program's runs, in the order of the evidence.
var Measured = sync.OnceValue(func() (all []Expected) {
	var f measuredFile
	d := toml.NewDecoder(strings.NewReader(measuredTOML)).DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		panic("presets: data/measured.toml: " + err.Error()) // embedded: a test reads it
	}
	for _, table := range f.Table {
		for _, on := range table.Task {
			for _, r := range on.Results {
				e := Expected{
					Task: on.Name, Method: r.Method, Observation: table.Observation, TV: table.TV, Scale: table.Scale, Preset: table.Preset,
					Mean: r.Mean, Std: r.Std, Runs: r.Runs, From: table.From, Steps: table.Steps,
					Source: table.Source, Results: table.Results,
				}
				e.Frames = e.frames()
				all = append(all, e)
			}
		}
	}
	return all
})

// frames is what Frames holds.
func (e Expected) frames() int {
	if e.Observation != task.ObservationPixels {
		return 0
	}
	c, err := Resolve(e.Choice())
	if err != nil {
		panic("presets: data/measured.toml: " + err.Error()) // embedded: a test reads it
	}
	return c.Frames(e.Steps)
}

// Choice is the choice with which such a run is started, but for its TV.
func (e Expected) Choice() Choice {
	return Choice{Preset: e.Preset, Task: e.Task, Method: e.Method, Scale: e.Scale, Observation: e.Observation}
}

// Expect is what was measured on the task of a run at its scale: own for the run's own method with
// exactly its settings, beside for other methods with their default settings there. Settings that
// affect only what is known about a run, not what it does, are ignored.
func Expect(c config.Config) (own *Expected, beside []Expected) {
	tv := c.Knobs.Televised()
	c.Knobs.TV = knob.TVOff // as a choice has it; rows are selected by the run's own below
	for _, e := range Measured() {
		if e.Task != c.Task || e.Scale != c.Scale || e.Observation != c.Observation() || cmp.Or(e.TV, knob.TVOff) != tv {
			continue
		}
		switch {
		case e.Method == c.Method && same(e.Choice(), c):
			own = &e
		case e.Method != c.Method && e.Preset == "":
			beside = append(beside, e)
		}
	}
	return own, beside
}

// same says whether runs of the choice do the same as runs of c.
func same(of Choice, c config.Config) bool {
	all, err := Differences(of, c)
	return err == nil && len(Distinguishing(all, c)) == 0
}
