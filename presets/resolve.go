package presets

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"pgrlab/core/config"
	"pgrlab/core/printable"
	"pgrlab/core/run"
)

// A Choice says what to run. An empty axis is that of the preset, or else of DefaultPreset.
type Choice struct {
	Preset string // a named preset or a file
	Task   string
	Method string
	Scale  string
	// Observation is "state" or "pixels"; empty: the method's default.
	Observation string
	// Choices says of a task that another program simulates that the agent chooses among actions.
	Choices bool
}

// DefaultPreset is the preset of an empty Choice.
const DefaultPreset = "demo"

// The axes of DefaultPreset, for axes that neither a preset nor the choice gives.
const (
	defaultTask   = "cheetah-run"
	defaultMethod = "pgr-curiosity"
	defaultScale  = "demo"
)

// Resolve lays the layers of a choice over each other, later ones over earlier ones:
//
//	base · task · method · action · observation · task/learner · scale · scale/learner · scale/learner/task · scale/latents · scale/layer · method@scale · task@scale · preset
//
// For a method that is given pixels, observation/pixels.toml says how it learns from them: with a
// learner of its own and that learner's numbers. A learner that sees frames itself has a document
// of its own, observation/pixels/NAME.toml. What a scale says about runs whose learner fills D_real
// with latents is in scale/short/latents.toml, or for one learner in
// scale/short/LEARNER/latents.toml; for runs that in addition ask for a layer it is in
// scale/short/LAYER/latents.toml.
//
// If the agent of a task chooses among actions, a method that supports this gets
// action/choices.toml, with a learner of choices.
//
// What a task says about one learner only is in a layer of that learner's name,
// task/walker-walk/NAME.toml.
//
// A scale says how much there is of everything, for every task and method, so it is laid over tasks
// and methods. What it says about one learner only is in a layer of that learner's name,
// scale/short/NAME.toml, which is laid over the scale for methods that name the learner,
// agent.learner. What a scale says about one task, or a family of tasks, for this learner only is in
// scale/short/NAME/cartpole-swingup.toml or scale/short/NAME/cartpole.toml: unlike a pair of task and
// scale it leaves the task's other learners alone. What it says about one kind of observations only is in further layers, which a
// method or a task asks for: layers = ["pixels"].
//
// If an axis is chosen that differs from a file's, only what the file changes on its own axes is
// laid over the chosen axes: --method sac on a complete file means SAC with the edits of that file.
// Named presets contain only what they are about, and that is laid over any axes. A named preset's own
// names the presets of methods that have numbers of their own on its task: own = { mbpo = "mbpo-hopper" },
// which is laid over it for this method and task. Resolve does not know whether the task exists.
func Resolve(c Choice) (config.Config, error) {
	s, err := resolve(c)
	if err != nil {
		return config.Config{}, err
	}
	return s.config, nil
}

// complete says whether a file is a whole configuration, such as that of a run folder.
func complete(c *config.Config) bool {
	return c.Members > 0 && c.Steps > 0 && c.Buffer > 0 && len(c.Agent.Hidden) > 0 && c.Agent.Critics > 0 &&
		c.Knobs.Batch > 0 && c.Knobs.UTD > 0 && c.Knobs.RefitEvery > 0 && c.Generator.Width > 0
}

// axes names one of each axis; an empty observation is the method's default.
type axes struct {
	task, method, scale, observation string
	choices                          bool // of a task without a document of its own
}

// document is the name of a task's documents: all tasks of other programs and of files have the same.
func (a axes) document() string {
	if strings.Contains(a.task, ":") {
		return "outside"
	}
	return a.task
}

// resolve is Resolve with a record of which layer set what.
func resolve(c Choice) (*stack, error) {
	if c == (Choice{}) {
		c.Preset = DefaultPreset
	}
	file, doc, err := preset(c.Preset)
	if err != nil {
		return nil, err
	}
	named := doc != "" && file != c.Preset
	var top layer // the preset alone, to read its axes
	if err := decode(file, doc, &top); err != nil {
		return nil, err
	}
	own := axes{task: first(top.Task, defaultTask), method: first(top.Method, defaultMethod), scale: first(top.Scale, defaultScale)}
	chosen := axes{task: first(c.Task, own.task), method: first(c.Method, own.method), scale: first(c.Scale, own.scale)}
	own.choices = top.Environment.Outside.Spec.Choices > 0
	chosen.choices = c.Choices || own.choices && chosen.task == own.task
	own.observation = observed(own.method, top.Environment.Observation)
	chosen.observation = observed(chosen.method, first(c.Observation, top.Environment.Observation))
	s, err := layAxes(chosen)
	if err != nil {
		return nil, err
	}
	if complete(&top.Config) && !named && chosen == own {
		if err := sameParts(file, &top.Config, own, &s.config); err != nil {
			return nil, err
		}
	}
	if chosen != own && doc != "" && !named {
		if doc, err = edits(own, file, doc); err != nil {
			return nil, err
		}
	}
	s.lay(file, doc)
	if other := top.Own[chosen.method]; named && other != "" && chosen.task == own.task {
		file := "preset/" + other + ".toml"
		s.lay(file, read(file))
	}
	if named && chosen.method != own.method && s.config.Generator.Kind == config.GeneratorNone {
		s.config.Knobs.Ratio = 0 // a figure's share of synthetic rows is not that of its baselines on real data
	}
	s.config.Task, s.config.Method, s.config.Scale = chosen.task, chosen.method, chosen.scale
	if c.Observation != "" {
		s.config.Environment.Observation = c.Observation
	}
	s.config.Preset = printable.Line(c.Preset)
	s.config.Steps = s.config.RoundUp(s.config.Steps)
	if err := s.config.NameFormulas(); s.err == nil && err != nil {
		return nil, fmt.Errorf("read preset: %s: %w", file, err)
	}
	return s, s.err
}

// layAxes lays all layers below the preset.
func layAxes(a axes) (*stack, error) {
	if err := known("method", a.method, methodNames); err != nil {
		return nil, err
	}
	if err := known("scale", a.scale, scaleNames); err != nil {
		return nil, err
	}
	s := &stack{config: config.New(), notes: map[string]string{}}
	for _, file := range []string{"base.toml", "task/" + a.document() + ".toml", "method/" + a.method + ".toml"} {
		s.lay(file, read(file))
	}
	s.choose(a)
	if err := s.observe(a.method, observed(a.method, a.observation)); err != nil {
		return nil, err
	}
	for _, file := range []string{"task/" + a.document() + "/" + s.config.Agent.Learner + ".toml", "scale/" + a.scale + ".toml"} {
		s.lay(file, read(file))
	}
	learner := "scale/" + a.scale + "/" + s.config.Agent.Learner
	files := append([]string{learner + ".toml"}, withFamily(learner+"/", a.document(), "")...)
	if s.config.Fills() {
		files = append(files, latentLayer(a.scale, s.config.Agent.Learner))
	}
	for _, layer := range s.layers {
		files = append(files, "scale/"+a.scale+"/"+layer+".toml")
		if s.config.Fills() {
			files = append(files, "scale/"+a.scale+"/"+layer+"/latents.toml")
		}
	}
	files = append(files, withFamily("pair/", a.method, "@"+a.scale)...)
	files = append(files, "pair/"+a.document()+"@"+a.scale+".toml")
	for _, file := range files {
		s.lay(file, read(file))
	}
	s.config.Task, s.config.Method, s.config.Scale = a.task, a.method, a.scale
	return s, s.err
}

// withFamily are the documents of the family of a method or task and, over it, of itself.
func withFamily(before, name, after string) []string {
	files := []string{before + family(name) + after + ".toml"}
	if name != family(name) {
		files = append(files, before+name+after+".toml")
	}
	return files
}

// A stack is the result of the layers laid so far.
type stack struct {
	config config.Config
	layers []string          // of the scale, requested by method and task
	notes  map[string]string // dotted key → the comment beside the value in force
	err    error
}

// observe lays the layer for a method's observations, if the method does more than take them.
func (s *stack) observe(method, observation string) error {
	if s.err != nil {
		return nil
	}
	if err := canObserve(method, observation); err != nil {
		return err
	}
	file := "observation/" + observation + "/" + s.config.Agent.Learner + ".toml"
	if read(file) == "" {
		file = "observation/" + observation + ".toml" // another learner handles them
	}
	s.lay(file, read(file))
	if observation != observed(method, "") {
		s.config.Environment.Observation = observation
	}
	return nil
}

// choose lays the layer for choosing among actions if both the task and the method ask for it: the
// method's own learner handles numeric actions, which such tasks refuse.
func (s *stack) choose(a axes) {
	if s.err != nil {
		return
	}
	for _, file := range []string{"task/" + a.document() + ".toml", "method/" + a.method + ".toml"} {
		var l layer
		isTask := strings.HasPrefix(file, "task/")
		if s.err = decode(file, read(file), &l); s.err != nil || !l.Choices && !(isTask && a.choices) {
			return
		}
	}
	s.lay("action/choices.toml", read("action/choices.toml"))
}

// latentLayer is the file with what a scale says about runs whose learner fills D_real with
// latents: for that learner, or for all.
func latentLayer(scale, learner string) string {
	if own := "scale/" + scale + "/" + learner + "/latents.toml"; read(own) != "" {
		return own
	}
	return "scale/" + scale + "/latents.toml"
}

// lay lays a document over the present configuration; an empty one changes nothing.
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

// maxPreset is more bytes than a preset has.
const maxPreset = 1 << 20

// preset returns a named preset or the file of that name. A name that looks like a path is a file,
// everything else a preset.
func preset(name string) (file, doc string, err error) {
	if name == "" {
		return "", "", nil
	}
	if doc := read("preset/" + name + ".toml"); doc != "" && known("preset", name, presetNames) == nil {
		return "preset/" + name + ".toml", doc, nil
	}
	b, err := run.ReadNamed(name, maxPreset)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, "/.") {
		return "", "", known("preset", name, presetNames)
	}
	if err != nil {
		return "", "", fmt.Errorf("read preset: %w", err)
	}
	return name, strings.TrimPrefix(string(b), mark), nil
}

// mark is the byte order mark with which some editors begin a file.
const mark = "\ufeff"

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
// errors. Keys that the document lacks are zero; without task and method it is not a
// configuration of a run.
func Decode(file string, doc []byte) (config.Config, error) {
	c := config.New()
	err := decode(file, string(doc), &c)
	if err == nil && (c.Task == "" || c.Method == "") {
		err = fmt.Errorf("read preset: %s: not the configuration of a run: it has no task or no method", file)
	}
	return c, err
}
