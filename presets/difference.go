package presets

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"pgrlab/core/config"
)

// A Difference is a setting that differs from what a choice gives. Its values are in TOML form.
type Difference struct {
	Key  string `json:"key"` // dotted: "knobs.guidance"
	From string `json:"from"`
	To   string `json:"to"`
}

// Differences are the settings of c that differ from what the choice gives, sorted by key; the axes
// and the preset's name do not count.
func Differences(from Choice, c config.Config) ([]Difference, error) {
	base, err := Resolve(from)
	if err != nil {
		return nil, err
	}
	before, err := Settings(base)
	if err != nil {
		return nil, err
	}
	after, err := Settings(c)
	if err != nil {
		return nil, err
	}
	var all []Difference
	for _, key := range slices.Concat(slices.Collect(maps.Keys(before)), slices.Collect(maps.Keys(after))) {
		from, to := settingOf(before, after, key), settingOf(after, before, key)
		d := Difference{key, from, to}
		definition := strings.HasPrefix(key, "relevance.") // of a formula: the knob has the formula itself
		if from != to && !definition && !slices.Contains([]string{"task", "method", "scale", "preset"}, key) && !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b Difference) int { return strings.Compare(a.Key, b.Key) })
	return all, nil
}

// settingOf is the value of a key, as TOML writes it. A key that an encoded configuration leaves
// out is at its zero, of the kind that the other configuration has there.
func settingOf(settings, other map[string]string, key string) string {
	if value, has := settings[key]; has {
		return value
	}
	switch value := other[key]; {
	case strings.HasPrefix(value, "'") || strings.HasPrefix(value, `"`):
		return "''"
	case strings.HasPrefix(value, "["):
		return "[]"
	case value == "true" || value == "false":
		return "false"
	case strings.ContainsAny(value, ".e"):
		return "0.0"
	}
	return "0"
}

// judging are settings that affect what is known about a run, not what it does; some are gone.
var judging = []string{
	"environment.observation", // follows from the learner
	"seed", "members", "steps", "device", "lanes", "generator.slice",
	"generator.roll", // without a change by hand nothing depends on it
	"evaluation.every", "evaluation.dormant_states", "evaluation.dormant_tau", "evaluation.analysed_rows",
	"evaluation.analyse_every", "evaluation.keep_every",
}

// starting are settings that say how the program of a task is started, or repeat what it says of itself.
var starting = []string{"folder", "python", "timeout", "processes", "spec"}

// Judges says whether a setting affects only what is known about a run, not what it does.
func Judges(key string) bool {
	of, outside := strings.CutPrefix(key, "environment.outside.")
	first, _, _ := strings.Cut(of, ".")
	return slices.Contains(judging, key) || outside && slices.Contains(starting, first)
}

// UsualPrecision is what a GPU computes with unless another precision is asked for.
const UsualPrecision = "tf32"

// before are settings that are younger than results that were kept, in files or in run folders, with the
// values by which a run does what it did before there was the setting.
var before = map[string]string{
	"agent.drqv2.preactivation_of_q":  "0.0",
	"rnd.slice":                       "0",
	"agent.dreamer.deter":             "512",
	"agent.dreamer.classes":           "4",
	"agent.dreamer.hidden":            "64",
	"agent.dreamer.units":             "64",
	"agent.dreamer.depth":             "4",
	"agent.dreamer.sequences":         "16",
	"agent.dreamer.length":            "64",
	"agent.dreamer.train_ratio":       "1024",
	"agent.dreamer.imagine":           "15",
	"agent.dreamer.warmup":            "1000",
	"agent.dreamer.noise_share":       "0.0",
	"agent.dreamer.noise_std":         "0.2",
	"agent.policy_q":                  "'mean'",
	"knobs.horizon":                   "1",
	"knobs.prior":                     "0.5",
	"disagreement.members":            "5",
	"disagreement.hidden":             "64",
	"disagreement.lr":                 "0.001",
	"disagreement.every":              "0",
	"disagreement.warmup":             "500",
	"generator.noise_share":           "0.0",
	"generator.roll":                  "0",
	"generator.actions":               "'data'",
	"generator.outcomes":              "'model'",
	"generator.noise_std":             "0.0",
	"generator.ensemble.members":      "7",
	"generator.ensemble.elites":       "5",
	"generator.ensemble.width":        "200",
	"generator.ensemble.layers":       "4",
	"generator.ensemble.patience":     "5",
	"generator.ensemble.target":       "'delta'",
	"generator.ensemble.target_scale": "'raw'",
}

// gone are settings that results were kept with and that no configuration has by now, with the values that
// runs had, in TOML form. Most are constants in the code, where their sources stand.
var gone = map[string]string{
	"lanes":                   "2",
	"environment.noise_share": "0.0", "environment.noise_sigma": "[]",
	"evaluation.dormant_tau": "0.025",
	"agent.noisy_sigma":      "0.5", "agent.candidates": "10",
	"agent.drqv2.noise_from": "1.0", "agent.drqv2.noise_to": "0.1", "agent.drqv2.noise_clip": "0.3", "agent.drqv2.align_every": "0",
	"agent.drqv2.freeze_at":  "0",
	"agent.ppo.value_weight": "0.5", "agent.ppo.max_norm": "0.5", "agent.ppo.limits": "'end'", "agent.ppo.kernels": "[8, 4, 3]",
	"agent.ppo.strides": "[4, 2, 1]", "agent.ppo.channels": "[32, 64, 64]", "agent.ppo.window": "8",
	"agent.ppo.keep_rewarded": "512", "agent.ppo.dreamt_reward": "'threshold'", "agent.ppo.synthetic": "'value+policy'",
	"agent.ppo.align_rows": "1024",
	"replay.alpha":         "0.6", "replay.beta": "0.4", "replay.epsilon": "0.000001",
	"curiosity.residual": "'shared'", "curiosity.momentum": "0.1", "curiosity.score_rows": "1024", "curiosity.respawns": "'masked'",
	"curiosity.noise_kind": "'isotropic'", "curiosity.forward_share": "0.2",
	"rnd.score_rows": "1024", "rnd.respawns": "'masked'",
	"count.bins": "8", "count.depth": "4",
	"eco.hidden": "[128, 128]", "eco.channels": "[]", "eco.entries": "200", "eco.alpha": "0.03", "eco.beta": "0.5",
	"eco.percentile": "0.9", "eco.near": "5", "eco.far": "25", "eco.momentum": "0.1",
	"generator.sigma_data": "1.0", "generator.s_tmin": "0.05", "generator.s_tmax": "50.0", "generator.s_noise": "1.003",
	"generator.fourier": "8", "generator.clamp": "'auto'", "generator.beta1": "0.9", "generator.beta2": "0.99",
	"generator.epsilon": "0.00000001", "generator.weight_decay": "0.0", "generator.clip_norm": "1.0", "generator.ema_decay": "0.995",
	"generator.ema_after":  "100",
	"generator.head.width": "128", "generator.head.layers": "2",
	"generator.vae.latent": "32",
}

// unguided are settings of guidance, which do nothing in a run whose generator has no condition, or that
// has none, with the values that such runs had when results were kept.
var unguided = map[string]string{"generator.corrector": "'conditional'", "generator.condition_range": "'filled'"}

// AsKept are settings with the values that results of the same runs were kept with, those that are gone
// included.
func AsKept(settings map[string]string) map[string]string {
	kept := maps.Clone(settings)
	maps.Copy(kept, gone)
	rewarded := kept["bonus.function"] != "'none'" || kept["environment.cell_bonus"] != ""
	if kept["agent.learner"] == "'ppo'" && kept["generator.kind"] != "'none'" && rewarded {
		kept["agent.ppo.dreamt_reward"] = "'raw'" // had to be asked for, and follows from the bonus by now
	}
	if settings["generator.conditional"] == "false" {
		maps.Copy(kept, unguided)
	}
	return kept
}

// Distinguishes says whether a setting with that value, in TOML form, tells a run from others by what
// it does. The usual precision does not, so that runs on CPUs, which round nothing, and on GPUs are
// taken together; nor does a setting that is as if it did not exist.
func Distinguishes(key, value string) bool {
	if key == "precision" {
		text := strings.Trim(value, `"'`)
		return text != "" && text != UsualPrecision
	}
	if old, young := before[key]; young && value == old {
		return false
	}
	return !Judges(key)
}

// Distinguishing are those differences of a run of c from its choice by which it does something else.
// The length is one of them if something follows it, and so differs from the first env step on.
func Distinguishing(all []Difference, c config.Config) []Difference {
	return slices.DeleteFunc(slices.Clone(all), func(d Difference) bool {
		_, guides := unguided[d.Key]
		return guides && !c.Generator.Conditional || !Distinguishes(d.Key, d.To) && (d.Key != "steps" || !FollowsLength(c))
	})
}

// FollowsLength says whether something in a run of c follows a schedule over its whole length, so
// that a run of another length is another one.
func FollowsLength(c config.Config) bool {
	_, err := c.Longer(c.Steps + 1)
	return err != nil
}

// Settings are all settings of a configuration, by their dotted keys.
func Settings(c config.Config) (map[string]string, error) {
	t, err := tree(c)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	return all, flatten(all, "", t)
}

func flatten(into map[string]string, prefix string, table map[string]any) error {
	for key, value := range table {
		if inner, is := value.(map[string]any); is {
			if err := flatten(into, prefix+key+".", inner); err != nil {
				return err
			}
			continue
		}
		text, err := toml.Marshal(map[string]any{"v": value})
		if err != nil {
			return fmt.Errorf("encode configuration: %s%s: %w", prefix, key, err)
		}
		into[prefix+key] = strings.TrimSpace(strings.TrimPrefix(string(text), "v = "))
	}
	return nil
}
