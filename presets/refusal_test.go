package presets

import (
	"slices"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
)

// Every method at every scale uses a knob, or the knob's refusal says which methods do: the list of
// methods in core/lab agrees with their presets.
func TestMethodsAndKnobs(t *testing.T) {
	for _, method := range methodNames {
		for _, scale := range scaleNames {
			c, err := Resolve(Choice{Task: "cheetah-run", Method: method, Scale: scale})
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range knob.All() {
				listed, err := slices.Contains(k.Methods(), method), c.Uses(k)
				if listed != (err == nil) {
					t.Errorf("%s at %s: %s is listed as used: %v, refused with: %v", method, scale, k.Name, listed, err)
				}
				if k.Use == knob.UsePrior {
					if !strings.Contains(err.Error(), "--data FILE:SHARE") {
						t.Errorf("%s: %v", method, err)
					}
					continue
				}
				if err != nil && !strings.HasPrefix(err.Error(), k.Name+": not used by "+method+": "+k.Methods()[0]) {
					t.Errorf("%s: %v", method, err)
				}
			}
		}
	}
}

// historyOf are c's settings with another history of episodic curiosity.
func historyOf(c *config.Config, rows int) relevance.Configs {
	eco := c.Relevance.Of("eco").(relevance.ECOConfig)
	eco.History = rows
	return c.Relevance.With("eco", eco)
}

// Options that do not go with a method or with each other are refused, and the line
// says what would go.
func TestContradictionsAreRefusedWithAWayOut(t *testing.T) {
	for _, r := range []struct {
		method string
		edit   func(*config.Config)
		why    string
		wayOut string
	}{
		{"pgr-curiosity", func(c *config.Config) { c.Replay.Priority = "td" }, "which have no priorities", `generator.kind "none"`},
		{"synther", func(c *config.Config) { c.Replay.Priority = "curiosity" }, "which have no priorities", `replay.priority "none"`},
		{"per-td", func(c *config.Config) { c.Replay.Priority = "luck" }, `replay.priority is "luck"`, `"td"`},
		{"sac", func(c *config.Config) { c.Knobs.Relevance = "curiosity" }, "no conditional generator", `"none", or a method pgr-`},
		{"synther", func(c *config.Config) { c.Knobs.Relevance = "td" }, "no conditional generator", `"none", or a method pgr-`},
		{"vae", func(c *config.Config) { c.Knobs.Relevance = "reward" }, "no conditional generator", `"none", or a method pgr-`},
		{"redq", func(c *config.Config) { c.Knobs.Ratio = 0.5 }, "no generator that would make", "want 0"},
		{"sac", func(c *config.Config) { c.Generator.Conditional = true }, `generator.kind is "none"`, "conditional false"},
		{"sac", func(c *config.Config) { c.Generator.Kind = "gan" }, `generator.kind is "gan"`, `want one of diffusion`},
		{"pgr-vae", func(c *config.Config) { c.Generator.Init = "previous" }, "starts every refit from fresh", `"scratch"`},
		{"synther", func(c *config.Config) { c.Generator.Vector, c.Generator.Head.Kind = "pair", "none" }, "predicts no s' from it", `head.kind "transition"`},
		{"synther", func(c *config.Config) { c.Generator.Kind = "resample" }, `"resample" repeats whole transitions`, `vector "transition"`},
		{"synther", func(c *config.Config) { c.Generator.Actions = "mine" }, `actions is "mine"`, `"policy"`},
		{"synther", func(c *config.Config) { c.Generator.Outcomes = "true" }, `outcomes is "true"`, `"simulator"`},
		{"resample", func(c *config.Config) { c.Generator.Actions = "policy" }, "the outcome of another action", `outcomes "simulator"`},
		{"mbpo", func(c *config.Config) { c.Generator.Outcomes = "simulator" }, "steps of a policy in a model already", `outcomes "model"`},
		{"mbpo", func(c *config.Config) { c.Generator.Head.Kind = "transition" }, "predicts s' and r itself", `head.kind "none"`},
		{"synther", func(c *config.Config) {
			c.Generator.Kind, c.Generator.Vector, c.Generator.Head.Kind = "ensemble", "pair", "transition"
		}, "predicts s' and r itself", `vector "transition"`},
		{"pgr-curiosity", func(c *config.Config) { c.Generator.NoiseShare = 0.2 }, "which is no noise", "want a size"},
		{"pgr-curiosity", func(c *config.Config) { c.Generator.SkipReward = true }, "skip_reward", `"standard" only`},
		{"pgr-td", func(c *config.Config) { c.Generator.Width = 101 }, "width is 101", "even number"},
		{"pgr-td", func(c *config.Config) { c.Generator.Terminals = "soft" }, `terminals is "soft"`, `"raw"`},
		{"pgr-td", func(c *config.Config) { c.Generator.Corrector = "half" }, `corrector is "half"`, `"full"`},
		{"pgr-td", func(c *config.Config) { c.Generator.ConditionRange = "wide" }, `condition_range is "wide"`, `"padded"`},
		{"synther", func(c *config.Config) { c.Knobs.Samples = 2_000_000 }, "samples: 2,000,000 do not fit", "(buffer)"},
		{"synther", func(c *config.Config) { c.Knobs.Hold, c.Knobs.Ratio = "real", 1 }, "ratio 1 with hold=real", "more than"},
		{"redq-curiosity", func(c *config.Config) { c.Bonus.Function = "td" }, `bonus.function is "td"`, `"curiosity"`},
		{"redq-curiosity", func(c *config.Config) { c.Bonus.Scale = "big" }, `bonus.scale is "big"`, `"paper"`},
		{"ppo-eco", func(c *config.Config) { c.Bonus.Scale = "returns" }, "has either sign", `want "paper"`},
		{"ppo-eco", func(c *config.Config) { c.Relevance = historyOf(c, 400) }, "eco: history is 400, 25 transitions of each of 16 copies", "want at least 432"},
		{"redq-curiosity", func(c *config.Config) { c.Bonus.Function, c.Bonus.Scale = "eco", "paper" }, "as they are met", "a learner of rollouts"},
		{"pgr-curiosity", func(c *config.Config) { c.Knobs.Relevance = "eco" }, "as they are met", "a learner of rollouts"},
		{"redq-curiosity", func(c *config.Config) {
			c.Relevance = c.Relevance.With("curiosity", relevance.ICMConfig{Cadence: relevance.Cadence{Every: -1}})
		}, "curiosity.every is -1", "0 for one update per env step"},
		{"redq", func(c *config.Config) { c.Agent.Subset = 11 }, "agent.subset is 11", "of 10 critics"},
		{"sac", func(c *config.Config) { c.Agent.Gamma = 1 }, "agent.gamma is 1", "below 1"},
		{"sac", func(c *config.Config) { c.StartSteps = c.Buffer }, "it would never hold enough", "buffer is"},
		{"pgr-td", func(c *config.Config) { c.Schedule = []string{"100:guidanc=3"} }, `unknown knob "guidanc"`, `did you mean "guidance"`},
		{"pgr-td", func(c *config.Config) { c.Schedule = []string{"100:ratio=2"} }, "ratio: 2 is out of range", "from 0 to 1"},
	} {
		c, err := Resolve(Choice{Task: "cheetah-run", Method: r.method, Scale: "short"})
		if err != nil {
			t.Fatal(err)
		}
		r.edit(&c)
		if err = c.Validate(); err == nil {
			err = c.ValidateSettings()
		}
		if err == nil || !strings.Contains(err.Error(), r.why) || !strings.Contains(err.Error(), r.wayOut) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v: want %q and %q", r.method, err, r.why, r.wayOut)
		}
	}
}

// Where the released code differs from the paper, scale release has an option with its reason, and
// shows it.
func TestQuirksOfTheReleasedCodeAreShown(t *testing.T) {
	for _, quirk := range []struct{ method, task, line, reason string }{
		{"pgr-curiosity", "cheetah-run", `corrector = 'conditional'`, "the corrector is not guided"},
		{"pgr-curiosity", "cheetah-run", `condition_range = 'padded'`, "empty slots count as 0"},
		{"pgr-curiosity", "cheetah-run", `initial_alpha = 0.2`, "holds until the first α step"},
		{"pgr-curiosity", "cheetah-run", `skip_reward = false`, "ignores the flag"},
		{"pgr-curiosity", "cheetah-run", `normaliser = 'minmax'`, "every estimate is clamped"},
		{"pgr-curiosity", "cheetah-run", `width = 2048`, "concatenated"},
		{"pgr-curiosity", "quadruped-walk", `top_fraction = 0.1`, "README"},
		{"synther", "Hopper-v2", `terminals = 'raw'`, "scales the bootstrap"},
		{"synther", "Hopper-v2", `skip_reward = false`, "normalises the reward"},
		{"synther", "cheetah-run", `skip_reward = true`, "skip_reward_norm"},
	} {
		doc, err := Show(Choice{Task: quirk.task, Method: quirk.method, Scale: "release"})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for line := range strings.Lines(string(doc)) {
			found = found || strings.HasPrefix(strings.TrimSpace(line), quirk.line) && strings.Contains(line, quirk.reason)
		}
		if !found {
			t.Errorf("%s on %s: no line %s with %q", quirk.method, quirk.task, quirk.line, quirk.reason)
		}
	}
}
