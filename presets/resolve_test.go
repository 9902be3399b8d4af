package presets

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/config"
)

// every calls f for all combinations of task, method and scale.
func every(t *testing.T, f func(t *testing.T, c Choice)) {
	t.Helper()
	for _, task := range []string{"cartpole-swingup", "quadruped-walk"} {
		for _, method := range methodNames {
			for _, scale := range scaleNames {
				c := Choice{Task: task, Method: method, Scale: scale}
				t.Run(task+"/"+method+"/"+scale, func(t *testing.T) { f(t, c) })
			}
		}
	}
}

// config.toml decodes to the configuration that the run was made from.
func TestRoundTrip(t *testing.T) {
	every(t, func(t *testing.T, c Choice) {
		config, err := Resolve(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := config.Validate(); err != nil {
			t.Error(err)
		}
		doc, err := Encode(config)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode("config.toml", doc)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, config) {
			t.Errorf("came back as\n%+v\nwant\n%+v", back, config)
		}
	})
}

// A knob that the method does not use is shown as unused; every other knob is shown with the source
// of its value.
func TestShownKnobsThatAreNotUsed(t *testing.T) {
	for method, unused := range map[string][]string{
		"drqv2":   {"relevance", "guidance", "top_fraction", "ratio", "hold", "utd", "bonus", "refit_every", "samples", "horizon", "sampler_steps", "s_churn", "generator_steps", "lr_generator", "p_uncond", "entropy", "tv", "prior"},
		"synther": {"relevance", "guidance", "top_fraction", "utd", "bonus", "horizon", "p_uncond", "entropy", "tv", "prior"},
	} {
		doc, err := Show(Choice{Task: "walker-walk", Method: method, Scale: "demo", Observation: "pixels"})
		if err != nil {
			t.Fatal(err)
		}
		for l := range lines(string(doc)) {
			name, is := strings.CutPrefix(l.key, "knobs.")
			if shown := l.comment == "not used by "+method; is && shown != slices.Contains(unused, name) {
				t.Errorf("%s: %q", method, l.text)
			}
		}
	}
}

// Another method in the line of a complete file would be a name and nothing else.
func TestAMethodsLineInACompleteFile(t *testing.T) {
	dir := t.TempDir()
	resolved := func(name, from, to string, flags Choice) (config.Config, error) {
		doc, err := Show(Choice{Task: "cheetah-run", Method: from, Scale: "short"})
		if err != nil {
			t.Fatal(err)
		}
		text := string(doc)
		for _, edit := range strings.Split(to, "; ") {
			key, _, _ := strings.Cut(edit, " ")
			at := strings.Index(text, "\n"+key+" ") + 1
			end := at + strings.IndexByte(text[at:], '\n')
			text = text[:at] + edit + text[end:]
		}
		flags.Preset = filepath.Join(dir, name)
		if err := os.WriteFile(flags.Preset, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return Resolve(flags)
	}
	for _, c := range []struct{ from, edit, want string }{
		{"pgr-curiosity", "method = 'sac'", `method is "sac", but the file is of pgr-curiosity (generator.kind diffusion, generator.conditional true): leave the line at "pgr-curiosity", and use --method sac`},
		{"pgr-td", "method = 'synther'", "the file is of pgr-td (generator.conditional true)"},
		{"sac", "method = 'pgr-rnd'", "(generator.kind none, generator.conditional false)"},
		{"redq-curiosity", "method = 'redq'", "of redq-curiosity (bonus.function curiosity)"},
		{"per-td", "method = 'redq'", "of per-td (replay.priority td)"},
		{"pgr-curiosity", "method = 'pgr-td'; relevance = 'td'", ""},           // the knob is all that makes it
		{"pgr-curiosity", "relevance = 'td'; guidance = 3.0; critics = 5", ""}, // edits
		{"pgr-curiosity", "priority = 'td'; kind = 'vae'", ""},                 // no method is that
	} {
		_, err := resolved("mine.toml", c.from, c.edit, Choice{})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s with %s: %v, want %q", c.from, c.edit, err, c.want)
		}
	}
	if _, err := resolved("config.toml", "pgr-curiosity", "method = 'sac'", Choice{}); err != nil {
		t.Errorf("of a run folder: %v", err)
	}
	if c, err := resolved("mine.toml", "pgr-curiosity", "guidance = 3.0", Choice{Method: "sac"}); err != nil || c.Generates() {
		t.Errorf("with --method sac: it generates: %v, %v", c.Generates(), err)
	}
}

// The output of `preset show` means the same when it is given back as a file.
func TestShowRoundTrip(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.toml")
	every(t, func(t *testing.T, c Choice) {
		want, err := Resolve(c)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := Show(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, doc, 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := Resolve(Choice{Preset: file})
		if err != nil {
			t.Fatal(err)
		}
		got.Preset = want.Preset
		if !reflect.DeepEqual(got, want) {
			t.Errorf("came back as\n%+v\nwant\n%+v", got, want)
		}
	})
}

func TestResolveNumbers(t *testing.T) {
	type numbers struct {
		n, utd, batch, samples, steps int
		ratio, top, alpha             float64
		relevance, kind, normaliser   string
	}
	of := func(c config.Config) numbers {
		return numbers{c.Agent.Critics, c.Knobs.UTD, c.Knobs.Batch, c.Knobs.Samples, c.Steps,
			c.Knobs.Ratio, c.Knobs.TopFraction, c.Agent.InitialAlpha,
			c.Knobs.Relevance, c.Generator.Kind, c.Generator.Normaliser}
	}
	tests := []struct {
		choice Choice
		want   numbers
	}{
		{Choice{Task: "cheetah-run", Method: "sac", Scale: "paper"},
			numbers{2, 1, 256, 1e6, 1e5, 0, 0.25, 1, "none", "none", "minmax"}},
		{Choice{Task: "cheetah-run", Method: "redq", Scale: "paper"},
			numbers{10, 20, 256, 1e6, 1e5, 0, 0.25, 1, "none", "none", "minmax"}},
		{Choice{Task: "cheetah-run", Method: "synther", Scale: "release"},
			numbers{2, 20, 256, 1e6, 1e5, 0.5, 0.25, 0.2, "none", "diffusion", "standard"}},
		{Choice{Task: "quadruped-walk", Method: "pgr-curiosity", Scale: "release"},
			numbers{2, 20, 256, 1e6, 1e5, 0.5, 0.1, 0.2, "curiosity", "diffusion", "minmax"}},
		{Choice{Task: "finger-turn-hard", Method: "pgr-td", Scale: "paper"},
			numbers{2, 20, 256, 1e6, 3e5, 0.5, 0.25, 1, "td", "diffusion", "minmax"}},
		{Choice{Task: "finger-turn-hard", Method: "pgr-return", Scale: "cpu"},
			numbers{2, 20, 256, 1e5, 3e5, 0.5, 0.25, 1, "return", "diffusion", "minmax"}},
		{Choice{Task: "finger-turn-hard", Method: "sac", Scale: "short"},
			numbers{2, 10, 256, 50000, 20000, 0, 0.25, 1, "none", "none", "minmax"}},
		{Choice{},
			numbers{2, 8, 128, 10000, 30000, 0.5, 0.25, 1, "curiosity", "diffusion", "minmax"}},
		{Choice{Preset: "demo", Method: "sac"},
			numbers{2, 8, 128, 10000, 30000, 0, 0.25, 1, "none", "none", "minmax"}},
	}
	for _, tt := range tests {
		c, err := Resolve(tt.choice)
		if err != nil {
			t.Errorf("%+v: %v", tt.choice, err)
			continue
		}
		if got := of(c); got != tt.want {
			t.Errorf("%+v = %+v, want %+v", tt.choice, got, tt.want)
		}
	}
}

// An axis chosen against a complete file brings its own numbers; values edited in the file stay.
func TestAxisAgainstFile(t *testing.T) {
	doc, err := Show(Choice{Task: "quadruped-walk", Method: "pgr-curiosity", Scale: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(doc), "tau = 0.005", "tau = 0.01", 1)
	if edited == string(doc) {
		t.Fatalf("no tau in\n%s", doc)
	}
	file := filepath.Join(t.TempDir(), "mine.toml")
	if err := os.WriteFile(file, []byte(edited), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, axes := range []Choice{{Method: "sac"}, {Scale: "cpu"}, {Task: "walker-walk"}, {Method: "redq", Scale: "paper", Task: "cheetah-run"}} {
		want, err := Resolve(Choice{
			Task: first(axes.Task, "quadruped-walk"), Method: first(axes.Method, "pgr-curiosity"), Scale: first(axes.Scale, "demo")})
		if err != nil {
			t.Fatal(err)
		}
		want.Knobs.Tau = 0.01
		axes.Preset = file
		want.Preset = file
		got, err := Resolve(axes)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v gives\n%+v\nwant\n%+v", axes, got, want)
		}
	}
}

// These are the lines that people see.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(doc string) string {
		f, err := os.CreateTemp(dir, "*.toml")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(doc); err != nil {
			t.Fatal(err)
		}
		return f.Name()
	}
	tests := []struct {
		name   string
		choice Choice
		want   string // FILE stands for the file
	}{
		{"method", Choice{Method: "pgr-curiousity"}, `unknown method "pgr-curiousity": did you mean "pgr-curiosity"? (pgrlab list methods)`},
		{"scale", Choice{Scale: "tiny"}, `unknown scale "tiny": pgrlab list scales shows all of them`},
		{"preset", Choice{Preset: "dmeo"}, `unknown preset "dmeo": did you mean "demo"? (pgrlab list presets)`},
		{"no file", Choice{Preset: "./nothing.toml"}, `read preset: open ./nothing.toml: no such file or directory`},
		{"unknown key", Choice{Preset: file("scale = \"demo\"\n\n[knobs]\nrattio = 0.5\n")},
			`read preset: FILE:4: unknown key "knobs.rattio": did you mean "knobs.ratio"?`},
		{"key in the wrong table", Choice{Preset: file("guidance = 3.0\n")},
			`read preset: FILE:1: unknown key "guidance": did you mean "knobs.guidance"?`},
		{"unknown table", Choice{Preset: file("[generater]\nwidth = 3\n")},
			`read preset: FILE:1: unknown key "generater": did you mean "generator"?`},
		{"nothing near", Choice{Preset: file("zzzzzzzz = 3.0\n")},
			`read preset: FILE:1: unknown key "zzzzzzzz": pgrlab preset show prints the keys of a run`},
		{"wrong type", Choice{Preset: file("\nsteps = \"many\"\n")}, `read preset: FILE:2: steps: want a whole number`},
		{"not TOML", Choice{Preset: file("steps =\n")}, `read preset: FILE:1: `},
		{"wrong method inside", Choice{Preset: file("method = \"reqd\"\n")}, `unknown method "reqd": did you mean "redq"? (pgrlab list methods)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Resolve(tt.choice)
			if err == nil {
				t.Fatal("no error")
			}
			got := strings.ReplaceAll(err.Error(), tt.choice.Preset, "FILE")
			if tt.choice.Preset == "" || !strings.HasPrefix(tt.choice.Preset, dir) {
				got = err.Error()
			}
			if !strings.HasPrefix(got, tt.want) || strings.Contains(got, "\n") {
				t.Errorf("error %q, want %q", got, tt.want)
			}
		})
	}
}

// Keys that a complete configuration lacks have the values of its layers.
func TestWholeConfigurationsThatLackKeys(t *testing.T) {
	now, err := Resolve(Choice{Task: "cheetah-run", Method: "pgr-curiosity", Scale: "short"})
	if err != nil || now.Generator.Head.Kind != "transition" {
		t.Fatalf("%v: head %q", err, now.Generator.Head.Kind)
	}
	doc, err := Encode(now)
	if err != nil {
		t.Fatal(err)
	}
	whole := string(doc)
	head := whole[strings.Index(whole, "[generator.head]"):]
	head = head[:strings.Index(head[1:], "[")+1]
	path := filepath.Join(t.TempDir(), "config.toml")
	for _, c := range []struct{ doc, vector, head string }{
		{whole, "pair", "transition"},
		{strings.NewReplacer(head, "", "vector = 'pair'\n", "", "angles = 'phase'\n", "").Replace(whole), "pair", "transition"},
		{"scale = \"short\"\n[generator]\nwidth = 64\n", "pair", "transition"},
	} {
		if err := os.WriteFile(path, []byte(c.doc), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := Resolve(Choice{Preset: path})
		if err == nil {
			err = got.Generator.Validate()
		}
		if err != nil || got.Generator.Vector != c.vector || got.Generator.Head.Kind != c.head {
			t.Errorf("%v: vector %q, head %q, want %q and %q", err, got.Generator.Vector, got.Generator.Head.Kind, c.vector, c.head)
		}
	}
}

// A value that a key cannot hold is answered with what the key takes, and not with types of Go.
func TestValuesOfTheWrongKind(t *testing.T) {
	for doc, want := range map[string]string{
		"steps = 1.5":                "steps: want a whole number",
		"seed = -1":                  "seed: want a whole number of at least 0",
		"knobs.guidance = 'x'":       "knobs.guidance: want a number",
		"generator.conditional = 1":  "generator.conditional: want true or false",
		"task = 3":                   "task: want text in quotes",
		"knobs = 3":                  "knobs: want a table",
		"[[knobs]]":                  "knobs: want a table",
		"[steps]":                    "steps: want a whole number",
		"[agent]\nhidden = 3":        "agent.hidden: want a list of whole numbers, such as [1, 2]",
		"[agent]\nhidden = [1, 'a']": "agent.hidden: want a list of whole numbers, such as [1, 2]",
		"schedule = ['a', 3]":        "schedule: want a list of texts in quotes, such as ['a', 'b']",
	} {
		_, err := Decode("x.toml", []byte("method = 'm'\n"+doc+"\n"))
		if err == nil || !strings.HasPrefix(err.Error(), "read preset: x.toml:") || !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("%q: %v, want %q", doc, err, want)
		}
	}
}

// A document that is no configuration of a run is refused.
func TestAnEmptyConfiguration(t *testing.T) {
	if _, err := Decode("config.toml", nil); err == nil || !strings.Contains(err.Error(), "config.toml: not the configuration of a run") {
		t.Errorf("an empty document: %v", err)
	}
}

// A preset file that an editor saved with a byte order mark is the same preset.
func TestAPresetWithAByteOrderMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.toml")
	if err := os.WriteFile(path, []byte("\ufefftask = 'cheetah-run'\nmethod = 'sac'\nseed = 5\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if c, err := Resolve(Choice{Preset: path}); err != nil || c.Seed != 5 || c.Method != "sac" {
		t.Errorf("seed %d, %s, %v", c.Seed, c.Method, err)
	}
}
