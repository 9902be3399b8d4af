package presets

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/task"
)

//go:embed data
var embedded embed.FS

// data are the documents; a test replaces them by others.
var data fs.FS = embedded

// A layer is one TOML document: a configuration that contains only what it changes, and a line
// about itself.
type layer struct {
	Doc     string   `toml:"doc"`
	Figure  string   `toml:"figure"`  // for presets: the part of the paper that the preset belongs to
	Compare []string `toml:"compare"` // for presets: the other methods of the figure
	// Own are, for presets, the presets of methods of the figure that have numbers of their own on
	// its task.
	Own map[string]string `toml:"own"`
	// Layers are, for methods and tasks, the further layers of a scale that are meant for them: for
	// a learner, for observations or for a generator.
	Layers []string `toml:"layers"`
	// Observations are, for methods, the observations of a task that the method can use, the
	// default first; none: states.
	Observations []string `toml:"observations"`
	// Choices says of a task that the agent chooses among actions, and of a method that it can be
	// used with such choices as well.
	Choices bool `toml:"choices"`
	// Chosen is, for methods that the paper describes in a few sentences, what these leave open and
	// what we chose; in action/choices.toml it applies to methods with Choices.
	Chosen string `toml:"chosen"`
	// Reported is what was reported about this very run: "returns", "measures" or nothing.
	Reported string `toml:"reported"`
	config.Config
}

// An Entry is a name with a line about it, for lists.
type Entry struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
}

// The names in the order in which lists show them: every name is a file, order.toml says which come
// first, and the others follow by name.
var methodNames, scaleNames, presetNames = names("method"), names("scale"), names("preset")

func init() {
	knob.SetMethods(methodUses)
	knob.SetFixedKeys(fixedKeys)
}

// names are the names of the documents of an axis.
func names(axis string) []string {
	var order map[string][]string
	if err := toml.Unmarshal([]byte(read("order.toml")), &order); err != nil {
		panic(err) // embedded
	}
	all := slices.Clone(order[axis])
	entries, _ := fs.ReadDir(data, path.Join("data", axis))
	for _, e := range entries { // by name
		if name, is := strings.CutSuffix(e.Name(), ".toml"); is && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// methodUses says what the runs of each method have, which follows from the method's parts.
func methodUses() []knob.Method {
	all := make([]knob.Method, len(methodNames))
	for i, name := range methodNames {
		c, err := Resolve(Choice{Task: defaultTask, Method: name, Scale: defaultScale})
		if err != nil {
			panic(err) // embedded: TestLayers reads every one
		}
		all[i] = knob.Method{Name: name, Has: c.Has()}
	}
	return all
}

// Methods are all methods.
func Methods() []Entry { return entries("method", methodNames) }

// Chosen is what we chose for a method that the paper describes in a few sentences; "" if the paper
// describes it completely. For a method that becomes another one where an agent chooses among
// actions, it is the text for that one.
func Chosen(method string) string {
	var l layer
	file := "method/" + method + ".toml"
	if err := decode(file, read(file), &l); err != nil {
		return ""
	}
	if l.Chosen != "" || !l.Choices {
		return l.Chosen
	}
	file = "action/choices.toml"
	if err := decode(file, read(file), &l); err != nil {
		return ""
	}
	return l.Chosen
}

// Learner is the learner that a method uses, by its name in package agent; "" if there is no such
// method.
func Learner(method string) string {
	s, err := layAxes(axes{task: defaultTask, method: method, scale: defaultScale})
	if err != nil {
		return ""
	}
	return s.config.Agent.Learner
}

// Observations are the observations of a task that a method can use, the default first.
func Observations(method string) []string {
	var l layer
	file := "method/" + method + ".toml"
	if err := decode(file, read(file), &l); err != nil || len(l.Observations) == 0 {
		return []string{task.ObservationState}
	}
	return l.Observations
}

// observed is the observation of a choice, or the method's default if the choice has none.
func observed(method, observation string) string {
	if observation == "" {
		return Observations(method)[0]
	}
	return observation
}

// canObserve returns an error if a method cannot use such observations; it names the methods that
// can.
func canObserve(method, observation string) error {
	if observation != task.ObservationState && observation != task.ObservationPixels {
		return fmt.Errorf("observation is %q, want %q or %q", observation, task.ObservationState, task.ObservationPixels)
	}
	if slices.Contains(Observations(method), observation) {
		return nil
	}
	var can []string
	for _, name := range methodNames {
		if slices.Contains(Observations(name), observation) {
			can = append(can, name)
		}
	}
	if len(can) > mostNamed {
		can = append(can[:mostNamed:mostNamed], "…")
	}
	return fmt.Errorf("observation is %q, but method %s takes %s: want that, or a method that takes %s: %s", observation, method, Observations(method)[0], observation, strings.Join(can, ", "))
}

// mostNamed is how many methods a line names at most.
const mostNamed = 10

// Scales are all scales.
func Scales() []Entry { return entries("scale", scaleNames) }

func entries(axis string, names []string) []Entry {
	all := make([]Entry, len(names))
	for i, name := range names {
		var l layer
		file := axis + "/" + name + ".toml"
		if err := decode(file, read(file), &l); err != nil {
			panic(err) // embedded: TestLayers reads every one
		}
		all[i] = Entry{name, l.Doc}
	}
	return all
}

// read returns an embedded document; "" if it does not exist.
func read(file string) string {
	b, err := fs.ReadFile(data, path.Join("data", file))
	if err != nil {
		return ""
	}
	return string(b)
}

func known(kind, name string, names []string) error {
	if slices.Contains(names, name) {
		return nil
	}
	if i := slices.Index(names, defaultMethod); i >= 0 { // the likeliest guess, if it is one
		names = slices.Concat([]string{defaultMethod}, names[:i], names[i+1:])
	}
	return Unknown(kind, name, names, "pgrlab list "+kind+"s")
}

// family is the part of a name that related methods or tasks share, and for which layers may be
// written: pgr for pgr-curiosity, cartpole for cartpole-swingup.
func family(name string) string {
	f, _, _ := strings.Cut(name, "-")
	return f
}
