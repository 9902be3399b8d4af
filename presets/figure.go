package presets

import "slices"

// A Preset is a named preset: a run, and the part of the paper that it belongs to.
type Preset struct {
	Name   string `json:"name"`
	Doc    string `json:"doc"`
	Figure string `json:"figure,omitempty"` // "Table 1", "appendix, PER and VAE"
	Task   string `json:"task"`
	Method string `json:"method"`
	Scale  string `json:"scale"`
	// Observation is what the learner gets from the task: "state" or "pixels".
	Observation string `json:"observation"`
	// Compare are the other methods of the figure, to run with --method.
	Compare []string `json:"compare,omitempty"`
	// Results are the reported returns of all methods of the figure, the paper's first; Measures
	// are other reported numbers. Both are empty if no one has published numbers of such a run.
	Results  []Result  `json:"results"`
	Measures []Measure `json:"measures"`
}

// Presets are all named presets.
func Presets() []Entry { return entries("preset", presetNames) }

// Figures are all named presets, with everything known about them.
func Figures() []Preset {
	all := make([]Preset, len(presetNames))
	for i, name := range presetNames {
		var l layer
		file := "preset/" + name + ".toml"
		if err := decode(file, read(file), &l); err != nil {
			panic(err) // embedded: TestLayers reads every one
		}
		all[i] = Preset{
			Name: name, Doc: l.Doc, Figure: l.Figure, Compare: l.Compare, Results: []Result{}, Measures: []Measure{},
			Task: first(l.Task, defaultTask), Method: first(l.Method, defaultMethod), Scale: first(l.Scale, defaultScale),
		}
		all[i].Observation = observed(all[i].Method, l.Environment.Observation)
		all[i].report(l.Reported)
	}
	return all
}

// report looks up the reported numbers.
func (p *Preset) report(what string) {
	methods := append([]string{p.Method}, p.Compare...)
	if what == "returns" {
		for _, r := range append(References(p.Task), Independent(p.Task)...) {
			if r.Sees(p.Observation) && slices.Contains(methods, r.Method) && !slices.ContainsFunc(p.Results, r.repeats) {
				p.Results = append(p.Results, r)
			}
		}
	}
	if what == "measures" {
		for _, m := range Measures(p.Task) {
			if slices.Contains(methods, m.Method) {
				p.Measures = append(p.Measures, m)
			}
		}
	}
}

// repeats says whether another table prints the same result.
func (r Result) repeats(other Result) bool {
	return r.Task == other.Task && r.Method == other.Method && r.Independent == other.Independent && r.Mean == other.Mean
}
