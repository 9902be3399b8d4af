package presets

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/agent/drqv2"
	"pgrlab/core/config"
	"pgrlab/core/relevance"
)

// sighted are the methods that can be given pixels.
var sighted = []string{"drqv2", "synther", "pgr-curiosity", "pgr-reward", "pgr-return", "pgr-td", "pgr-rnd", "pgr-count", "resample", "pgr-resample"}

// A method with pixels is DrQ-v2 with the method's generator and relevance. The numbers of the
// learner, its task and its scale are those of DrQ-v2; the generator's are the scale's numbers for
// latents.
func TestMethodsFromPixels(t *testing.T) {
	for _, method := range sighted {
		for _, scale := range scaleNames {
			c, err := Resolve(Choice{Task: "walker-walk", Method: method, Scale: scale, Observation: "pixels"})
			if err == nil {
				err = c.Validate()
			}
			if err == nil {
				err = c.ValidateSettings()
			}
			if err != nil {
				t.Errorf("%s at scale %s: %v", method, scale, err)
				continue
			}
			alone, err := Resolve(Choice{Task: "walker-walk", Method: "drqv2", Scale: scale})
			if err != nil {
				t.Fatal(err)
			}
			of, as := c.Agent.Own["drqv2"].(drqv2.Settings), alone.Agent.Own["drqv2"].(drqv2.Settings)
			if of != as || !slices.Equal(c.Pixels.Strides, alone.Pixels.Strides) || c.Steps != alone.Steps || c.StartSteps != alone.StartSteps ||
				c.Knobs.Batch != alone.Knobs.Batch || c.Knobs.LRCritic != alone.Knobs.LRCritic || c.Environment.ActionRepeat != alone.Environment.ActionRepeat ||
				!slices.Equal(c.Agent.Hidden, alone.Agent.Hidden) || c.Agent.Subset != alone.Agent.Subset {
				t.Errorf("%s at scale %s: its learner is not that of drqv2:\n%+v\n%+v", method, scale, c, alone)
			}
			states, err := Resolve(Choice{Task: "walker-walk", Method: method, Scale: scale, Observation: Observations(method)[0]})
			if err != nil {
				t.Fatal(err)
			}
			k, s := c.Knobs, states.Knobs
			if k.Relevance != s.Relevance || k.Ratio != s.Ratio || c.Generator.Kind != states.Generator.Kind || c.Generator.Conditional != states.Generator.Conditional {
				t.Errorf("%s at scale %s: with pixels %+v, with states %+v", method, scale, k, s)
			}
			if c.Fills() != (method != "drqv2") || !c.Sees() {
				t.Errorf("%s at scale %s: learner %q", method, scale, c.Agent.Learner)
			}
		}
	}
	for _, name := range methodNames {
		if can := canObserve(name, "pixels") == nil; can != (slices.Contains(sighted, name) || slices.Contains(choosing, name) || name == "dreamerv3") {
			t.Errorf("method %s takes pixels: %v", name, can)
		}
	}
}

// DreamerV3 sees a single frame, unchanged, with its own learner and an update in some env steps at every scale.
func TestDreamerFromPixels(t *testing.T) {
	for _, scale := range scaleNames {
		c, err := Resolve(Choice{Task: "walker-walk", Method: "dreamerv3", Scale: scale, Observation: "pixels"})
		if err == nil {
			err = c.Validate()
		}
		if err != nil {
			t.Fatal(err)
		}
		if c.Agent.Learner != "dreamer" || !c.Sees() || c.Fills() || c.Pixels.Stack != 1 || c.Pixels.Pad != 0 || c.Pixels.Side != 64 || c.Environment.ActionRepeat != 1 {
			t.Errorf("scale %s: learner %s, %+v, repeat %d", scale, c.Agent.Learner, c.Pixels, c.Environment.ActionRepeat)
		}
	}
}

// choosing are methods whose own learner sees frames, in mazes.
var choosing = []string{"ppo", "ppo-curiosity", "ppo-oracle", "ppo-rnd", "ppo-eco", "synther", "pgr-eco", "pgr-curiosity", "pgr-rnd"}

// PPO sees a single frame, unchanged, with its learner's own numbers and those of the scale's layer
// for it.
func TestPPOFromPixels(t *testing.T) {
	for _, method := range choosing {
		for _, scale := range scaleNames {
			c, err := Resolve(Choice{Task: "maze-sparse", Method: method, Scale: scale, Observation: "pixels"})
			if err == nil {
				err = c.Validate()
			}
			if err != nil {
				t.Fatal(err)
			}
			states, err := Resolve(Choice{Task: "maze-sparse", Method: method, Scale: scale})
			if err != nil {
				t.Fatal(err)
			}
			if !c.Sees() || states.Sees() || c.Agent.Learner != "ppo" || c.Pixels.Stack != 1 || c.Pixels.Pad != 0 || len(c.Agent.Hidden) != 1 || c.Steps != states.Steps {
				t.Errorf("%s at scale %s: %+v of %+v", method, scale, c.Pixels, c.Agent)
			}
			if c.Generates() && (c.Generator.Vector != "transition" || c.Knobs.RefitEvery != states.Knobs.RefitEvery || c.Buffer != states.Buffer || c.Generator.Head.Enabled()) {
				t.Errorf("%s at scale %s: a generator %+v with a buffer of %d", method, scale, c.Generator, c.Buffer)
			}
			for _, f := range []string{"curiosity", "rnd"} {
				if !relevance.Looks(c.Relevance.Of(f), c.Sight()) {
					t.Errorf("%s at scale %s: %s is not of frames", method, scale, f)
				}
			}
		}
	}
	bonus, err := Resolve(Choice{Task: "maze-sparse", Method: "ppo", Scale: "demo", Observation: "pixels"})
	if err != nil {
		t.Fatal(err)
	}
	icm := bonus.Relevance.Of("curiosity").(relevance.ICMConfig)
	icm.On, bonus.Bonus.Function = relevance.OnLatents, "curiosity"
	if bonus.Relevance = bonus.Relevance.With("curiosity", icm); !refusesStates(bonus) {
		t.Error("a bonus of states beside frames is not refused")
	}
	icm.On = relevance.OnFrames
	if bonus.Relevance = bonus.Relevance.With("curiosity", icm); bonus.Validate() != nil {
		t.Errorf("curiosity of frames: %v", bonus.Validate())
	}
	if bonus.Bonus.Function = "rnd"; bonus.Validate() != nil {
		t.Errorf("a bonus of frames: %v", bonus.Validate())
	}
	rnd := bonus.Relevance.Of("rnd").(relevance.RNDConfig)
	rnd.On = relevance.OnLatents
	if bonus.Relevance = bonus.Relevance.With("rnd", rnd); !refusesStates(bonus) {
		t.Error("RND of latents, which are states here, is not refused beside frames")
	}
}

// From pixels the models of curiosity and RND make equally many updates of equally many rows, so that
// their F can be compared; demo is as it was when results were kept. PPO in mazes has a cadence of
// its own.
func TestModelsFromPixelsLearnAlike(t *testing.T) {
	models := func(task, scale string) (icm relevance.ICMConfig, rnd relevance.RNDConfig) {
		t.Helper()
		c, err := Resolve(Choice{Task: task, Method: "pgr-curiosity", Scale: scale, Observation: "pixels"})
		if err != nil {
			t.Fatal(err)
		}
		return c.Relevance.Of("curiosity").(relevance.ICMConfig), c.Relevance.Of("rnd").(relevance.RNDConfig)
	}
	for _, scale := range scaleNames {
		icm, rnd := models("walker-walk", scale)
		if alike := icm.Cadence == rnd.Cadence && icm.Batch == rnd.Batch; alike != (scale != "demo") {
			t.Errorf("scale %s: curiosity %+v of %d rows, rnd %+v of %d", scale, icm.Cadence, icm.Batch, rnd.Cadence, rnd.Batch)
		}
		if icm, rnd := models("maze-sparse", scale); (scale == "short" || scale == "cpu") && (icm.Every != 4 || rnd.Every != 4 || icm.Batch != rnd.Batch) {
			t.Errorf("in mazes at scale %s: curiosity %+v of %d rows, rnd %+v of %d", scale, icm.Cadence, icm.Batch, rnd.Cadence, rnd.Batch)
		}
	}
}

// A wrong cadence is refused in the units in which it counts: learners from pixels are given no batches,
// so that their env steps count.
func TestACadenceIsRefusedInItsUnits(t *testing.T) {
	for observation, want := range map[string]string{"state": "want critic updates between updates of the model", "pixels": "want env steps between updates of the model"} {
		c, err := Resolve(Choice{Task: "walker-walk", Method: "pgr-rnd", Scale: "short", Observation: observation})
		if err != nil {
			t.Fatal(err)
		}
		rnd := c.Relevance.Of("rnd").(relevance.RNDConfig)
		rnd.Every = -1
		c.Relevance = c.Relevance.With("rnd", rnd)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "rnd.every is -1, "+want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("from %s: %v, want %q", observation, err, want)
		}
	}
}

// Curiosity on frames needs choices between single env steps; other learners compute it on latents.
func TestCuriosityOfFramesIsOfChoices(t *testing.T) {
	c, err := Resolve(Choice{Task: "walker-walk", Method: "pgr-curiosity", Scale: "demo", Observation: "pixels"})
	if err != nil {
		t.Fatal(err)
	}
	icm := c.Relevance.Of("curiosity").(relevance.ICMConfig)
	icm.On = relevance.OnFrames
	c.Relevance = c.Relevance.With("curiosity", icm)
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), `want "latents"`) || strings.Contains(err.Error(), "\n") {
		t.Errorf("curiosity of frames in generative replay: %v", err)
	}
}

func refusesStates(c config.Config) bool {
	err := c.Validate()
	return err != nil && strings.Contains(err.Error(), "that bonus would be of states")
}

// A file of a run from pixels resolves to the same run. Another method laid over it keeps its
// pixels, and a method that cannot take them is refused. Without pixels the run is what it is
// without the file.
func TestAFileOfARunFromPixels(t *testing.T) {
	of := func(c Choice) config.Config {
		t.Helper()
		made, err := Resolve(c)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	whole := of(Choice{Task: "cartpole-swingup", Method: "synther", Scale: "demo", Observation: "pixels"})
	whole.Knobs.TopFraction = 0.125
	doc, err := Encode(whole)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(file, doc, 0o644); err != nil {
		t.Fatal(err)
	}
	differ := func(a, b config.Config) []string {
		t.Helper()
		x, err := Settings(a)
		if err != nil {
			t.Fatal(err)
		}
		y, err := Settings(b)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for key := range x {
			if x[key] != y[key] && key != "preset" {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		return keys
	}
	if again := differ(of(Choice{Preset: file}), whole); len(again) > 0 {
		t.Errorf("its file gives other %v", again)
	}
	other := of(Choice{Preset: file, Method: "pgr-td"})
	if keys := differ(other, of(Choice{Task: "cartpole-swingup", Method: "pgr-td", Scale: "demo", Observation: "pixels"})); !slices.Equal(keys, []string{"knobs.top_fraction"}) {
		t.Errorf("with --method pgr-td it differs in %v", keys)
	}
	states := of(Choice{Preset: file, Observation: "state"})
	if keys := differ(states, of(Choice{Task: "cartpole-swingup", Method: "synther", Scale: "demo"})); !slices.Equal(keys, []string{"environment.observation", "knobs.top_fraction"}) {
		t.Errorf("with --observation state it differs in %v", keys)
	}
	for want, choice := range map[string]Choice{
		"method sac takes state: want that, or a method that takes pixels: ": {Preset: file, Method: "sac"},
		"method drqv2 takes pixels: want that":                               {Method: "drqv2", Observation: "state"},
		`observation is "touch", want "state" or "pixels"`:                   {Method: "drqv2", Observation: "touch"},
	} {
		if _, err := Resolve(choice); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if found, err := Differences(Choice{Task: whole.Task, Method: whole.Method, Scale: whole.Scale, Observation: "pixels"}, whole); err != nil || len(found) != 1 {
		t.Errorf("it differs from its axes in %v, %v", found, err)
	}
}
