package presets

import (
	"bytes"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/generative"
	"pgrlab/core/knob"
)

func TestSet(t *testing.T) {
	c, err := Resolve(Choice{Task: "cheetah-run", Method: "pgr-curiosity", Scale: "short"})
	if err != nil {
		t.Fatal(err)
	}
	before := c
	for _, s := range [][2]string{{"generator.width", "512"}, {"generator.activation", "silu"}, {"generator.init", `"previous"`}, {"generator.vae.beta", "0.5"}, {"seed", "9"}, {"agent.hidden", "64, 32"}, {"agent.gamma", ".5"}, {"buffer", "20k"}, {"evaluation.actions", "sample"}, {"environment.cell_bonus", "0.5"}} {
		if err := Set(&c, s[0], s[1]); err != nil {
			t.Error(err)
		}
	}
	if g := c.Generator; g.Width != 512 || g.Activation != "silu" || g.Init != "previous" || g.Kinds.Of("vae").(generative.VAEConfig).Beta != 0.5 || c.Seed != 9 || c.Buffer != 20000 || c.Evaluation.Actions != "sample" || c.Environment.CellBonus != 0.5 || !slices.Equal(c.Agent.Hidden, []int{64, 32}) {
		t.Errorf("%+v", c.Generator)
	}
	if g := c.Generator; g.Blocks != before.Generator.Blocks || g.PMean != before.Generator.PMean || c.Task != before.Task {
		t.Errorf("other keys changed: %+v", c)
	}
	good := c.Generator
	for _, s := range []struct{ key, value, want string }{
		{"generator.widht", "512", `did you mean "generator.width"`},
		{"generator.width", "wide", "want a whole number"},
		{"generator.width", "0.5", "want a whole number"},
		{"generator.p_mean", "low", "want a number"},
		{"generator.conditional", "yes", "want true or false"},
		{"agent.hidden", "64,wide", "want a whole number, or several with commas"},
		{"generator", "5", "want a key and not a table"},
		{"generator.width", "5\nblocks = 7", "one value"},
		{"", "5", "want a key and not a table"},
	} {
		if err := Set(&c, s.key, s.value); err == nil || !strings.Contains(err.Error(), s.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s=%s: %v", s.key, s.value, err)
		}
	}
	if !reflect.DeepEqual(c.Generator, good) {
		t.Errorf("a refused change changed %+v", c.Generator)
	}
}

func TestParseAssignment(t *testing.T) {
	for text, want := range map[string]Assignment{
		"guidance=3": {"knobs.guidance", "3"}, "omega=3": {"knobs.guidance", "3"}, "ω = 3": {"knobs.guidance", " 3"}, "knobs.ω=3": {"knobs.guidance", "3"},
		"relevance==td": {"knobs.relevance", "=td"}, "generator.width= 512": {"generator.width", "512"}, "buffer=1": {"buffer", "1"},
	} {
		if a, err := ParseAssignment(text); err != nil || a != want {
			t.Errorf("%s: %+v, %v", text, a, err)
		}
	}
	for text, want := range map[string]string{
		"guidance": "want KNOB=VALUE or KEY=VALUE", "=3": "want KNOB=VALUE", "guidnce=3": `did you mean "guidance"`, "knobs.nope=3": "unknown knob",
		"gamma=0.9": `did you mean "agent.gamma"?`, "gamam=0.9": `did you mean "agent.gamma"?`, "hidden=64": `did you mean "agent.hidden", "agent.dreamer.hidden"`,
		"lr=1": `did you mean "lr_actor", "lr_critic" or "lr_generator"? (pgrlab list knobs)`, "knobs.lr=1": `did you mean "lr_actor"`,
		"zzz=1": `unknown knob "zzz": pgrlab list knobs shows all of them`,
	} {
		if a, err := ParseAssignment(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", text, a, err)
		}
	}
}

// A value that was assigned is shown, with where it comes from.
func TestShowAssigned(t *testing.T) {
	doc, err := Show(Choice{Preset: "demo"}, Assignment{"generator.width", "77"}, Assignment{"knobs.guidance", "2.5"})
	if err != nil || !regexp.MustCompile(`(?m)^width = 77 +# --set$`).Match(doc) || !regexp.MustCompile(`(?m)^guidance = 2.5 +# --set$`).Match(doc) {
		t.Errorf("%v\n%s", err, doc)
	}
	for _, a := range []Assignment{{"knobs.guidance", "99"}, {"generator.widht", "5"}} {
		if _, err := Show(Choice{Preset: "demo"}, a); err == nil {
			t.Errorf("%+v is shown", a)
		}
	}
}

// What a beginner sees of a run fits on a few screens.
func TestShowIsShort(t *testing.T) {
	doc, err := Show(Choice{Preset: "demo"})
	if n := bytes.Count(doc, []byte("\n")); err != nil || n > 130 {
		t.Errorf("%d lines, want at most 130, %v", n, err)
	}
	for _, absent := range []string{"[eco]", "[agent.ppo]", "[rnd]", "[pixels]"} {
		if bytes.Contains(doc, []byte(absent)) {
			t.Errorf("%s is shown", absent)
		}
	}
	if doc, err = Show(Choice{Preset: "demo"}, Assignment{"eco.lr", "0.5"}); err != nil || !bytes.Contains(doc, []byte("lr = 0.5")) {
		t.Errorf("a table that was changed is not shown, %v", err)
	}
}

// A value that acts on nothing is shown with that, not with where it comes from: settings of a head
// that there is not. The tables of other kinds of generators are left out.
func TestShowSaysWhatIsNotUsed(t *testing.T) {
	for _, c := range []struct {
		method, scale, line string
		idle                bool
	}{
		{"pgr-curiosity", "paper", `bounds = 'real' +# not used: generator\.head\.kind is none`, true},
		{"pgr-curiosity", "demo", `bounds = 'real' +# not used`, false},
		{"pgr-curiosity", "demo", `beta = 0\.003`, false},
		{"pgr-vae", "demo", `beta = 0\.003`, true},
		{"synther", "demo", `guidance = 2\.0 +# not used by synther`, true},
	} {
		doc, err := Show(Choice{Task: "cheetah-run", Method: c.method, Scale: c.scale})
		if err != nil {
			t.Fatal(err)
		}
		if found := regexp.MustCompile(`(?m)^` + c.line).Match(doc); found != c.idle {
			t.Errorf("%s at %s: %s: %v\n%s", c.method, c.scale, c.line, found, doc)
		}
	}
}

// No run at scale paper has been made to its end, and every preset of the paper's figures with that
// scale says so.
func TestPresetsAtScalePaperSayThatThereIsNoWholeRun(t *testing.T) {
	for _, p := range Presets() {
		c, err := Resolve(Choice{Preset: p.Name})
		if err != nil {
			t.Fatal(err)
		}
		doc, err := Show(Choice{Preset: p.Name})
		if err != nil {
			t.Fatal(err)
		}
		if c.Scale == "paper" && !regexp.MustCompile(`(?m)^scale = 'paper' +# there is no whole run`).Match(doc) {
			t.Errorf("%s does not say that there is no whole run of it", p.Name)
		}
	}
}

// The buffer of every preset has room for the generations that D_syn holds, also for the largest of its
// schedule.
func TestTheBufferHoldsAllGenerations(t *testing.T) {
	for _, p := range Presets() {
		c, err := Resolve(Choice{Preset: p.Name})
		if err != nil {
			t.Fatal(err)
		}
		most := c.Knobs.Samples
		for _, text := range c.Schedule {
			s, err := knob.ParseScheduled(text)
			if err != nil {
				t.Fatal(err)
			}
			if s.Knob == "samples" {
				n, err := knob.ParseCount(s.Value)
				if err != nil {
					t.Fatal(err)
				}
				most = max(most, n)
			}
		}
		if c.Generates() && c.Generator.Generations()*most > c.Buffer {
			t.Errorf("%s: %d generations of %d rows, and a buffer of %d", p.Name, c.Generator.Generations(), most, c.Buffer)
		}
	}
}
