package presets

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"pgrlab/core/config"
	"pgrlab/core/printable"
)

// A Choice says what to run. Axes that are empty are the preset's, or those of
// DefaultPreset.
type Choice struct {
	Preset string // a named preset or a file
	Task   string
	Method string
	Scale  string
	// Observation is "state" or "pixels"; empty: what the method takes first.
	Observation string
}

// DefaultPreset is what an empty Choice means.
const DefaultPreset = "demo"

// The axes of DefaultPreset, for what neither a preset nor the choice gives.
const (
	defaultTask   = "cheetah-run"
	defaultMethod = "pgr-curiosity"
	defaultScale  = "demo"
)

// Resolve lays the layers of a choice over each other, later over earlier:
//
//	base · task · method · action · observation · task/learner · scale · scale/learner · scale/latents · scale/layer · method@scale · task@scale · preset
//
// Where a method is given pixels, observation/pixels.toml says what it learns from them with:
// a learner of its own and that one's numbers. A learner that sees frames itself has a document
// of its own, observation/pixels/NAME.toml. What a scale says of runs whose learner fills
// D_real with latents stands in scale/short/latents.toml, or for one learner in
// scale/short/LEARNER/latents.toml; for those that ask for a layer beside that in
// scale/short/LAYER/latents.toml.
//
// Where the agent of a task chooses among actions, a method that says it can has
// action/choices.toml, with a learner of choices.
//
// What a task says of one learner only stands in a layer of that learner's name,
// task/walker-walk/NAME.toml.
//
// A scale says how much there is of everything, for every task and method, so that it
// is laid over what those say. What it says of one learner only stands in a layer of that
// learner's name, scale/short/NAME.toml, which methods that name it, agent.learner, have
// over the scale's own. What it says of one kind of observations only stands in further
// ones, which a method or a task asks for: layers = ["pixels"].
//
// Where an axis is chosen against a file, of the file only what it changes on its
// own axes is laid over the chosen ones: --method sac on a complete file means SAC
// with the edits of that file. Named presets say only what they are about, and that
// is laid over any axes. Whether the task exists is not known here.
func Resolve(c Choice) (config.Config, error) {
	s, err := resolve(c)
	if err != nil {
		return config.Config{}, err
	}
	return s.config, nil
}

// complete says whether a document of its own is a whole configuration, as that of a
// run folder is. Keys that it lacks are younger than it is: they have the values of the
// base, which leave everything as it was before there were such keys, whatever the
// scale has today.
func complete(c *config.Config) bool {
	return c.Members > 0 && c.Steps > 0 && c.Buffer > 0 && c.Lanes > 0 && len(c.Agent.Hidden) > 0 && c.Agent.Critics > 0 &&
		c.Knobs.Batch > 0 && c.Knobs.UTD > 0 && c.Knobs.RefitEvery > 0 && c.Generator.Width > 0
}

// axes name one of each; an observation that is empty is the method's.
type axes struct{ task, method, scale, observation string }

// resolve is Resolve with its traces: which layer set what.
func resolve(c Choice) (*stack, error) {
	if c == (Choice{}) {
		c.Preset = DefaultPreset
	}
	file, doc, err := preset(c.Preset)
	if err != nil {
		return nil, err
	}
	named := doc != "" && file != c.Preset
	var top layer // the preset alone, for its axes
	if err := decode(file, doc, &top); err != nil {
		return nil, err
	}
	own := axes{task: first(top.Task, defaultTask), method: first(top.Method, defaultMethod), scale: first(top.Scale, defaultScale)}
	chosen := axes{task: first(c.Task, own.task), method: first(c.Method, own.method), scale: first(c.Scale, own.scale)}
	own.observation = observed(own.method, top.Environment.Observation)
	chosen.observation = observed(chosen.method, first(c.Observation, top.Environment.Observation))
	s, err := layAxes(chosen)
	if err != nil {
		return nil, err
	}
	if chosen == own && complete(&top.Config) {
		s = &stack{notes: map[string]string{}}
		s.lay("base.toml", read("base.toml"))
	}
	if chosen != own && doc != "" && !named {
		if doc, err = edits(own, file, doc); err != nil {
			return nil, err
		}
	}
	s.lay(file, doc)
	if named && chosen.method != own.method && s.config.Generator.Kind == config.GeneratorNone {
		s.config.Knobs.Ratio = 0 // a figure's share of synthetic rows is not that of its baselines on real data
	}
	s.config.Task, s.config.Method, s.config.Scale = chosen.task, chosen.method, chosen.scale
	if c.Observation != "" {
		s.config.Environment.Observation = c.Observation
	}
	s.config.Preset = printable.Line(c.Preset)
	return s, s.err
}

// layAxes lays everything below a preset.
func layAxes(a axes) (*stack, error) {
	if err := known("method", a.method, methodNames); err != nil {
		return nil, err
	}
	if err := known("scale", a.scale, scaleNames); err != nil {
		return nil, err
	}
	s := &stack{notes: map[string]string{}}
	for _, file := range []string{"base.toml", "task/" + a.task + ".toml", "method/" + a.method + ".toml"} {
		s.lay(file, read(file))
	}
	s.choose(a)
	if err := s.observe(a.method, observed(a.method, a.observation)); err != nil {
		return nil, err
	}
	for _, file := range []string{"task/" + a.task + "/" + s.config.Agent.Learner + ".toml", "scale/" + a.scale + ".toml"} {
		s.lay(file, read(file))
	}
	files := []string{"scale/" + a.scale + "/" + s.config.Agent.Learner + ".toml"}
	if s.config.Fills() {
		files = append(files, latentLayer(a.scale, s.config.Agent.Learner))
	}
	for _, layer := range s.layers {
		files = append(files, "scale/"+a.scale+"/"+layer+".toml")
		if s.config.Fills() {
			files = append(files, "scale/"+a.scale+"/"+layer+"/latents.toml")
		}
	}
	files = append(files, "pair/"+family(a.method)+"@"+a.scale+".toml")
	if a.method != family(a.method) {
		files = append(files, "pair/"+a.method+"@"+a.scale+".toml")
	}
	files = append(files, "pair/"+a.task+"@"+a.scale+".toml")
	for _, file := range files {
		s.lay(file, read(file))
	}
	s.config.Task, s.config.Method, s.config.Scale = a.task, a.method, a.scale
	return s, s.err
}

// A stack is what the layers laid so far amount to.
type stack struct {
	config config.Config
	layers []string          // of the scale, that method and task ask for
	notes  map[string]string // dotted key → the comment behind the value that holds
	err    error
}

// observe lays what a method does with observations, where it is more than to take them.
func (s *stack) observe(method, observation string) error {
	if s.err != nil {
		return nil
	}
	if err := canObserve(method, observation); err != nil {
		return err
	}
	file := "observation/" + observation + "/" + s.config.Agent.Learner + ".toml"
	if read(file) == "" {
		file = "observation/" + observation + ".toml" // another learner takes them
	}
	s.lay(file, read(file))
	if observation != observed(method, "") {
		s.config.Environment.Observation = observation
	}
	return nil
}

// choose lays what learns where the agent chooses among actions, for a task and a method that
// say so: the learner of a method is one of numbers else, which such tasks refuse.
func (s *stack) choose(a axes) {
	if s.err != nil {
		return
	}
	for _, file := range []string{"task/" + a.task + ".toml", "method/" + a.method + ".toml"} {
		var l layer
		if s.err = decode(file, read(file), &l); s.err != nil || !l.Choices {
			return
		}
	}
	s.lay("action/choices.toml", read("action/choices.toml"))
}

// latentLayer is what a scale says of runs whose learner fills D_real with latents: of that
// learner, or of all.
func latentLayer(scale, learner string) string {
	if own := "scale/" + scale + "/" + learner + "/latents.toml"; read(own) != "" {
		return own
	}
	return "scale/" + scale + "/latents.toml"
}

// lay puts a document over what is there; an empty one changes nothing.
func (s *stack) lay(file, doc string) {
	if s.err != nil || doc == "" {
		return
	}
	l := layer{Config: s.config}
	if s.err = decode(file, doc, &l); s.err != nil {
		return
	}
	s.config, s.layers = l.Config, append(s.layers, l.Layers...)
	annotate(s.notes, printable.Line(file), doc)
}

// preset returns a named preset or the file of that name. What looks like a
// path is a file, everything else a name.
func preset(name string) (file, doc string, err error) {
	if name == "" {
		return "", "", nil
	}
	if doc := read("preset/" + name + ".toml"); doc != "" && known("preset", name, presetNames) == nil {
		return "preset/" + name + ".toml", doc, nil
	}
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, "/.") {
		return "", "", known("preset", name, presetNames)
	}
	if err != nil {
		return "", "", fmt.Errorf("read preset: %w", err)
	}
	return name, string(b), nil
}

func first(names ...string) string {
	for _, n := range names {
		if n != "" {
			return n
		}
	}
	return ""
}

// Encode writes a configuration as the TOML of config.toml: every key, in the
// order of config.Config. Decode reads it back.
func Encode(c config.Config) ([]byte, error) {
	var b bytes.Buffer
	e := toml.NewEncoder(&b)
	e.SetIndentTables(false)
	if err := e.Encode(c.Document()); err != nil {
		return nil, fmt.Errorf("encode configuration: %w", err)
	}
	return b.Bytes(), nil
}

// Decode reads a complete configuration, as Encode writes it; file names it in
// errors. Keys that the document lacks are zero.
func Decode(file string, doc []byte) (config.Config, error) {
	var c config.Config
	err := decode(file, string(doc), &c)
	return c, err
}
