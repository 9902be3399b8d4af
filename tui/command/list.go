package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"pgrlab/core/agent"
	"pgrlab/core/knob"
	"pgrlab/core/task"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/machine"
)

// A list is one kind of thing that can be listed: rows for people, values for JSON.
type list struct {
	name, short string
	heading     []string
	rows        func(cli.Deps) [][]string
	values      func(cli.Deps) any
	foot        func() []string // lines after the rows; nil: none
}

// otherwise are names that other programs have for lists.
var otherwise = map[string][]string{
	"tasks":     {"envs", "env", "environments", "games"},
	"methods":   {"algorithms", "algos", "agents", "models"},
	"relevance": {"functions", "priorities"},
	"presets":   {"configs"},
	"knobs":     {"parameters", "hyperparameters", "settings"},
	"devices":   {"gpus"},
}

var lists = []list{
	{"tasks", "tasks to learn", []string{"TASK", "OBS", "ACT", "EPISODE", "FROM", "CAMERA", "REPEAT", ""}, taskRows,
		func(d cli.Deps) any { return taskValues(d) }, taskFoot},
	{"methods", "methods: which learner, and what it learns from", []string{"METHOD", "LEARNER", "FROM", ""}, methodRows,
		func(cli.Deps) any { return methodValues() }, methodFoot},
	{"learners", "learners: how each of them acts and learns", []string{"LEARNER", "KNOBS", ""}, learnerRows,
		func(cli.Deps) any { return learnerValues() }, nil},
	{"relevance", "relevance functions F", []string{"F", "OF A TRANSITION", ""}, relevanceRows,
		func(cli.Deps) any { return relevanceValues() }, relevanceFoot},
	{"formulas", "names and functions of formulas for F", []string{"IN A FORMULA", ""}, formulaRows,
		func(cli.Deps) any { return formulaValues() }, nil},
	{"scales", "scales: the sizes of everything in a run", []string{"SCALE", ""},
		func(cli.Deps) [][]string { return entryRows(presets.Scales()) }, func(cli.Deps) any { return presets.Scales() }, nil},
	{"presets", "named presets, and what the paper reports for them", []string{"PRESET", "TASK", "METHOD", "PAPER", ""}, presetRows,
		func(cli.Deps) any { return presets.Figures() }, nil},
	{"measured", "returns that runs of this program reached", []string{"TASK", "METHOD", "FROM", "SCALE", "STEPS", "FRAMES", "RETURN", "RUNS", "WRITTEN DOWN IN"}, measuredRows,
		func(cli.Deps) any { return presets.Measured() }, measuredFoot},
	{"knobs", "knobs that can be turned during a run", []string{"KNOB", "SYMBOL", "RANGE", "REDOES", ""}, knobRows,
		func(cli.Deps) any { return knobValues() }, nil},
	{"devices", "devices to compute on", []string{"DEVICE", "USABLE", ""}, deviceRows,
		func(d cli.Deps) any { return machine.DeviceValues(d) }, nil},
}

func listCommand(d cli.Deps) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "list tasks, methods, learners, relevance, formulas, scales, presets, measured, knobs, devices",
		Example: `  pgrlab list
  pgrlab list tasks
  pgrlab list knobs --json`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if asJSON {
				return cli.WriteJSON(c.OutOrStdout(), listValues())
			}
			var rows [][]string
			for _, l := range lists {
				rows = append(rows, []string{"pgrlab list " + l.name, l.short})
			}
			return cli.WriteTable(c.OutOrStdout(), []string{"COMMAND", "LISTS"}, rows)
		},
	}
	c.PersistentFlags().BoolVar(&asJSON, "json", false, "print JSON")
	for _, l := range lists {
		of := &cobra.Command{
			Use: l.name, Short: l.short, SuggestFor: otherwise[l.name], Args: cli.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error {
				if asJSON {
					return cli.WriteJSON(c.OutOrStdout(), l.values(d))
				}
				if err := cli.WriteTable(c.OutOrStdout(), l.heading, l.rows(d)); err != nil || l.foot == nil {
					return err
				}
				return cli.WriteLines(c.OutOrStdout(), append([]string{""}, l.foot()...)...)
			},
		}
		if l.name == "relevance" {
			listsFormulas(of, &asJSON)
		}
		c.AddCommand(of)
	}
	return c
}

// listValues are the lists themselves.
func listValues() []presets.Entry {
	var all []presets.Entry
	for _, l := range lists {
		all = append(all, presets.Entry{Name: l.name, Doc: l.short})
	}
	return all
}

func entryRows(entries []presets.Entry) [][]string {
	var rows [][]string
	for _, e := range entries {
		rows = append(rows, []string{e.Name, e.Doc})
	}
	return rows
}

// presetRows shows, for people, the paper's return of the preset's own method; the rest of its
// figure is in JSON.
func presetRows(cli.Deps) [][]string {
	var rows [][]string
	for _, p := range presets.Figures() {
		paper := "-"
		for _, r := range p.Results {
			if r.Method == p.Method && !r.Independent && paper == "-" {
				paper = r.Spread()
			}
		}
		rows = append(rows, []string{p.Name, p.Task, p.Method, paper, p.Doc})
	}
	return rows
}

// measuredRows shows what to expect from a run.
func measuredRows(cli.Deps) [][]string {
	var rows [][]string
	for _, e := range presets.Measured() {
		scale := e.Scale
		if e.Preset != "" {
			scale = "preset " + e.Preset
		}
		from := e.Observation
		if e.TV != "" {
			from += ", tv=" + e.TV
		}
		rows = append(rows, []string{e.Task, e.Method, from, scale, fmt.Sprintf("%d to %d", e.From, e.Steps), dash(strings.TrimPrefix(fmt.Sprint(e.Frames), "0")), e.Spread(), fmt.Sprint(e.Runs), e.Source})
	}
	return rows
}

func measuredFoot() []string {
	return []string{
		"RETURN is the mean of a run's evaluations from the first to the last of STEPS, the end of the run: mean and standard deviation over RUNS.",
		"Only runs with today's settings are here. Methods whose settings changed since they were last run are missing; docs/evidence has their runs.",
	}
}

// taskValue is a task with the results that the paper reports on it.
type taskValue struct {
	Name         string           `json:"name"`
	Doc          string           `json:"doc"`
	Obs          int              `json:"obs"`
	Act          int              `json:"act"`
	Discrete     bool             `json:"discrete"` // an action is a choice among act actions
	TVs          []string         `json:"tvs"`      // values of --tv
	EpisodeSteps int              `json:"episode_steps"`
	Terminates   bool             `json:"terminates"`
	Observations []string         `json:"observations"` // what a learner can observe: state, pixels
	Camera       string           `json:"camera,omitempty"`
	Repeat       int              `json:"action_repeat,omitempty"` // of an env step from pixels, at scale paper
	Hidden       string           `json:"hidden"`                  // the part of the state that an observation does not show
	Paper        []presets.Result `json:"paper"`
	Independent  []presets.Result `json:"independent"` // measured by others
}

func taskValues(d cli.Deps) []taskValue {
	all := make([]taskValue, len(d.Tasks))
	for i, t := range d.Tasks {
		all[i] = taskValue{t.Name, t.Doc, t.ObsSize, t.ActSize, t.Discrete, append([]string{}, t.TVs...), t.EpisodeSteps, t.Terminates, t.Observations(), t.Camera, repeatOf(t), t.Hidden, presets.References(t.Name), presets.Independent(t.Name)}
		if all[i].Paper == nil {
			all[i].Paper = []presets.Result{}
		}
		if all[i].Independent == nil {
			all[i].Independent = []presets.Result{}
		}
	}
	return all
}

func taskRows(d cli.Deps) [][]string {
	var rows [][]string
	for _, t := range d.Tasks {
		rows = append(rows, []string{t.Name, fmt.Sprint(t.ObsSize), actions(t), fmt.Sprint(t.EpisodeSteps), strings.Join(t.Observations(), ", "), dash(t.Camera), dash(strings.Trim(fmt.Sprint(repeatOf(t)), "0")), t.Doc})
	}
	return rows
}

// taskFoot says that a task need not be built in.
func taskFoot() []string {
	return []string{
		"of your own: --task ./pole.toml, a model with formulas (pgrlab task check --help)",
		"of other programs: --task gym:ID, --task dm:DOMAIN-TASK, --env COMMAND (pgrlab env check --help)",
	}
}

// repeatOf is the number of a task's control steps in an env step from pixels, at scale paper; 0 if
// nothing is learned from the task's pixels.
func repeatOf(t task.Task) int {
	c, err := presets.Resolve(presets.Choice{Task: t.Name, Method: "drqv2", Scale: "paper"})
	if err != nil || t.Discrete || !t.Seen {
		return 0
	}
	return c.Environment.ActionRepeat
}

// dash is a text, or a dash for an empty one.
func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// actions is how many numbers an action has, or how many actions there are to choose from.
func actions(t task.Task) string {
	if t.Discrete {
		return fmt.Sprintf("1 of %d", t.ActSize)
	}
	return fmt.Sprint(t.ActSize)
}

// methodValue is a method as JSON.
type methodValue struct {
	presets.Entry
	Learner     string `json:"learner"`
	Observation string `json:"observation"`      // which observation of a task it uses
	Chosen      string `json:"chosen,omitempty"` // in mazes: what the paper leaves open, and what was chosen here
}

func methodValues() []methodValue {
	var all []methodValue
	for _, m := range presets.Methods() {
		all = append(all, methodValue{m, presets.Learner(m.Name), strings.Join(presets.Observations(m.Name), ", "), presets.Chosen(m.Name)})
	}
	return all
}

func methodRows(cli.Deps) [][]string {
	var rows [][]string
	for _, m := range methodValues() {
		rows = append(rows, []string{m.Name, m.Learner, m.Observation, m.Doc})
	}
	return rows
}

// methodFoot says which methods the paper describes in only a few sentences, and what was chosen
// for them; methods that share a choice are listed together.
func methodFoot() []string {
	lines := []string{"These are reconstructions, because the paper has a few sentences of them and no code of it was released: generative replay in mazes, and MAX. What was chosen here:"}
	var chosen []string
	of := map[string][]string{}
	for _, m := range methodValues() {
		if m.Chosen == "" {
			continue
		}
		if of[m.Chosen] == nil {
			chosen = append(chosen, m.Chosen)
		}
		of[m.Chosen] = append(of[m.Chosen], m.Name)
	}
	for _, text := range chosen {
		lines = append(lines, "", strings.Join(of[text], ", ")+":")
		for _, choice := range strings.Split(text, "; ") {
			lines = append(lines, "  "+choice)
		}
	}
	return append(lines, "", "docs/mazes.md and docs/model-based.md say more.")
}

// learnerValue is a learner as JSON.
type learnerValue struct {
	Name    string   `json:"name"`
	Doc     string   `json:"doc"`
	Source  string   `json:"source"`
	Knobs   []string `json:"knobs"`   // among those that only some learners have
	Methods []string `json:"methods"` // those that use it
}

func learnerValues() []learnerValue {
	var all []learnerValue
	for _, s := range agent.Specs() {
		v := learnerValue{Name: s.Name, Doc: s.Doc, Source: s.Source, Knobs: s.Knobs, Methods: []string{}}
		for _, m := range methodValues() {
			if m.Learner == s.Name {
				v.Methods = append(v.Methods, m.Name)
			}
		}
		all = append(all, v)
	}
	return all
}

func learnerRows(cli.Deps) [][]string {
	var rows [][]string
	for _, v := range learnerValues() {
		rows = append(rows, []string{v.Name, strings.Join(v.Knobs, " "), v.Doc})
	}
	return rows
}

// knobValue is a knob as JSON.
type knobValue struct {
	Name    string   `json:"name"`
	Symbol  string   `json:"symbol,omitempty"`
	Typed   string   `json:"typed,omitempty"`
	Unit    string   `json:"unit,omitempty"`
	Doc     string   `json:"doc"`
	Kind    string   `json:"kind"`
	Class   string   `json:"class"`
	Min     *float64 `json:"min,omitempty"`
	Max     *float64 `json:"max,omitempty"`
	Choices []string `json:"choices,omitempty"`
	Methods []string `json:"methods"`
}

func knobValues() []knobValue {
	var all []knobValue
	for _, k := range knob.All() {
		v := knobValue{Name: k.Name, Symbol: k.Symbol, Typed: k.Typed, Unit: k.Unit, Doc: k.Doc,
			Kind: k.Kind.String(), Class: k.Class.String(), Choices: k.Choices, Methods: k.Methods()}
		if k.Kind != knob.KindChoice {
			v.Min, v.Max = &k.Min, &k.Max
		}
		all = append(all, v)
	}
	return all
}

func knobRows(cli.Deps) [][]string {
	redoes := map[knob.Class]string{
		knob.ClassBatch: "nothing", knob.ClassGeneration: "generation", knob.ClassRefit: "refit", knob.ClassRun: "run",
	}
	var rows [][]string
	for _, k := range knob.All() {
		rows = append(rows, []string{k.Name, strings.TrimSpace(k.Symbol + " " + k.Typed), k.Range(), redoes[k.Class], k.Doc})
	}
	return rows
}

func deviceRows(d cli.Deps) [][]string {
	var rows [][]string
	for _, v := range machine.DeviceValues(d) {
		usable := "no"
		if v.Usable {
			usable = "yes"
		}
		rows = append(rows, []string{v.Name, usable, v.Doc})
	}
	return rows
}
