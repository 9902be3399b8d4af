package presets

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/config"
	"testing/fstest"

	"pgrlab/core/knob"
)

// isNoLayer says whether a document is not laid over others.
func isNoLayer(path string) bool {
	return slices.Contains([]string{"data/reference.toml", "data/measured.toml", "data/order.toml"}, path)
}

// Every embedded document decodes strictly, and every one is used under some name.
func TestLayers(t *testing.T) {
	err := fs.WalkDir(data, "data", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || isNoLayer(path) {
			return err
		}
		file := strings.TrimPrefix(path, "data/")
		var l layer
		if err := decode(file, read(file), &l); err != nil {
			t.Error(err)
		}
		axis, name, _ := strings.Cut(strings.TrimSuffix(file, ".toml"), "/")
		names := map[string][]string{"method": methodNames, "scale": scaleNames, "preset": presetNames}[axis]
		if names != nil && !slices.Contains(names, name) && !strings.Contains(name, "/") {
			t.Errorf("%s is in no list", file)
		}
		if names != nil && l.Doc == "" && !strings.Contains(name, "/") {
			t.Errorf("%s has no doc", file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range slices.Concat(Methods(), Scales()) {
		if e.Doc == "" || strings.Contains(e.Doc, "\n") {
			t.Errorf("%s: doc %q is not one line", e.Name, e.Doc)
		}
	}
}

// A value that nothing sets is that of the demo.
func TestDefaultsAreThoseOfDemo(t *testing.T) {
	c, err := Resolve(Choice{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Task != defaultTask || c.Method != defaultMethod || c.Scale != defaultScale || c.Preset != DefaultPreset {
		t.Errorf("preset %s is %s × %s × %s, want %s × %s × %s", c.Preset, c.Task, c.Method, c.Scale, defaultTask, defaultMethod, defaultScale)
	}
}

// A number without a source cannot be checked.
func TestEveryNumberHasASource(t *testing.T) {
	err := fs.WalkDir(data, "data", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || isNoLayer(path) {
			return err
		}
		file := strings.TrimPrefix(path, "data/")
		for l := range lines(read(file)) {
			_, value, _ := strings.Cut(l.text, "=")
			value = strings.TrimSpace(value)
			if l.key != "" && l.comment == "" && (strings.HasPrefix(value, "[2") || value[0] >= '0' && value[0] <= '9') &&
				l.key != "members" {
				t.Errorf("%s: %q has no comment", file, l.text)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// base.toml names every key there is, so that nothing is zero by omission.
func TestSourceOfWhatWasNamed(t *testing.T) {
	doc, err := Show(Choice{Preset: "demo", Task: "walker-walk", Method: "sac"})
	if err != nil {
		t.Fatal(err)
	}
	for l := range lines(string(doc)) {
		if want := "--" + l.key; (l.key == "task" || l.key == "method") && l.comment != want {
			t.Errorf("%q comes from %q, want %q", l.key, l.comment, want)
		}
	}
}

func TestBaseIsComplete(t *testing.T) {
	notes := map[string]string{}
	annotate(notes, "base.toml", read("base.toml"))
	var l layer
	l.Schedule = []string{}
	doc, err := Encode(l.Config)
	if err != nil {
		t.Fatal(err)
	}
	for line := range lines(string(doc)) {
		if slices.Contains([]string{"", "task", "method", "scale"}, line.key) {
			continue
		}
		if _, ok := notes[line.key]; !ok {
			t.Errorf("base.toml lacks %s", line.key)
		}
	}
}

// The knob table has exactly the methods that exist.
func TestMethodsOfKnobs(t *testing.T) {
	for _, k := range knob.All() {
		if len(k.Methods()) == 0 && k.Use != knob.UsePrior {
			t.Errorf("no method uses the knob %s", k.Name)
		}
		for _, m := range k.Methods() {
			if !slices.Contains(methodNames, m) {
				t.Errorf("knob %s names method %s, which has no preset", k.Name, m)
			}
		}
		for _, m := range methodNames {
			c, err := Resolve(Choice{Task: "cheetah-run", Method: m, Scale: "cpu"})
			if err != nil {
				t.Fatal(err)
			}
			if used := c.Uses(k) == nil; used != slices.Contains(k.Methods(), m) {
				t.Errorf("knob %s: used by %s: %v, but its list is %v", k.Name, m, used, k.Methods())
			}
		}
	}
}

// Whatever is decoded is either refused with one line, or encodes and decodes to itself.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"base.toml", "scale/demo.toml", "method/redq.toml", "preset/demo.toml", "pair/synther@release.toml"} {
		f.Add(read(name))
	}
	f.Add("[knobs]\nutd = 1e3\n")
	f.Add("agent = { hidden = [1, 2], gamma = nan }\n")
	f.Add("task = '''\n'''\n[[schedule]]\n")
	f.Fuzz(func(t *testing.T, doc string) {
		var c, back config.Config
		err := decode("fuzz.toml", doc, &c)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "read preset: fuzz.toml") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error is not one line with the file: %q", err)
			}
			return
		}
		once, err := Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		err = decode("again.toml", string(once), &back)
		if err != nil {
			t.Fatalf("%v in\n%s", err, once)
		}
		twice, err := Encode(back)
		if err != nil {
			t.Fatal(err)
		}
		if string(once) != string(twice) {
			t.Fatalf("encoded as\n%s\nthen as\n%s", once, twice)
		}
	})
}

// A pair belongs to a family of methods or to one method.
func TestPairsOfMethodAndScale(t *testing.T) {
	steps := func(method string) int {
		c, err := Resolve(Choice{Task: "cheetah-run", Method: method, Scale: "short"})
		if err != nil {
			t.Fatal(err)
		}
		return c.Knobs.GeneratorSteps
	}
	if a, b := steps("vae"), steps("pgr-vae"); a != 5_000 || b != a {
		t.Errorf("steps of the autoencoders: %d and %d", a, b)
	}
	if got := steps("pgr-curiosity"); got != 8_400 {
		t.Errorf("steps of the diffusion: %d", got)
	}
}

// overlaid is the embedded documents with others laid over them.
type overlaid struct{ over fstest.MapFS }

func (o overlaid) Open(name string) (fs.File, error) {
	if f, err := o.over.Open(name); err == nil {
		return f, nil
	}
	return embedded.Open(name)
}

// Of a scale's further layers, those of the method's learner apply, and over them those that the
// method and the task ask for. All of them lie over the scale and below what is set for the method
// at that scale.
func TestLayersOfAScale(t *testing.T) {
	file := func(doc string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(doc)} }
	data = overlaid{fstest.MapFS{
		"data/scale/short/sac.toml":    file("[knobs]\ntau = 0.001\nbatch = 128\n"),
		"data/method/sac.toml":         file(read("method/sac.toml") + "\n"),
		"data/method/redq.toml":        file("layers = [\"wide\", \"missing\"]\n" + read("method/redq.toml")),
		"data/task/cheetah-run.toml":   file("layers = [\"pixels\"]\n"),
		"data/scale/short/wide.toml":   file("[knobs]\nutd = 3\nbatch = 64\n"),
		"data/scale/short/pixels.toml": file("[knobs]\nbatch = 32\ntau = 0.01\n"),
		"data/pair/redq@short.toml":    file("[knobs]\ntau = 0.02\n"),
	}}
	defer func() { data = embedded }()
	for _, c := range []struct {
		task, method, scale string
		utd, batch          int
		tau                 float64
	}{
		{"walker-walk", "sac", "short", 10, 128, 0.001},
		{"walker-walk", "redq", "short", 3, 64, 0.02},
		{"cheetah-run", "sac", "short", 10, 32, 0.01},
		{"cheetah-run", "redq", "short", 3, 64, 0.02},
		{"cheetah-run", "redq", "cpu", 20, 256, 0.005},
	} {
		got, err := Resolve(Choice{Task: c.task, Method: c.method, Scale: c.scale})
		if err != nil {
			t.Fatal(err)
		}
		if k := got.Knobs; k.UTD != c.utd || k.Batch != c.batch || k.Tau != c.tau {
			t.Errorf("%s on %s at %s: utd %d, batch %d, tau %g, want %+v", c.method, c.task, c.scale, k.UTD, k.Batch, k.Tau, c)
		}
	}
}
