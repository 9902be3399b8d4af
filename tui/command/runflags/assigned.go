package runflags

import (
	"fmt"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/presets"
)

// SetUsage is of flags --set that take keys of config.toml too.
const SetUsage = "`KEY=VALUE` start with another value of a knob, by its name or symbol, or of a key of config.toml, as generator.width=512; repeatable (pgrlab list knobs, pgrlab preset show)"

// flagged are keys that have flags of their own, and these.
var flagged = map[string]string{
	"task": "task", "method": "method", "scale": "scale", "preset": "preset", "seed": "seed", "members": "members", "steps": "steps",
	"device": "device", "precision": "precision", "schedule": "at", "environment.observation": "observation",
	"environment.action_repeat": "action-repeat", "environment.noise_share": "noise-share", "environment.noise_sigma": "noise-sigma", "environment.tv": "tv",
}

// Assignments reads the values of --set.
func Assignments(texts []string) (all []presets.Assignment, err error) {
	for _, text := range texts {
		a, err := ParseAssignment(text)
		if err != nil {
			return nil, fmt.Errorf("--set %s: %w", text, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// ParseAssignment is presets.ParseAssignment of a key that has no flag of its own.
func ParseAssignment(text string) (presets.Assignment, error) {
	a, err := presets.ParseAssignment(text)
	if flag, has := flagged[a.Key]; err == nil && has {
		err = fmt.Errorf("use --%s", flag)
	}
	return a, err
}

// assign sets the keys of --set that are no knobs. It comes before what the task makes of its
// configuration; knobs are turned behind that, when it is known whether the run uses them.
func (r *Flags) assign(c *config.Config) error {
	all, err := Assignments(r.Set)
	if err != nil {
		return err
	}
	for _, a := range all {
		if _, is := a.Knob(); is {
			continue
		}
		if err := presets.Set(c, a.Key, a.Value); err != nil {
			return fmt.Errorf("--%w", err)
		}
	}
	return nil
}

// Uses says whether a run can use what is assigned; of a key that is no knob it is not known, and
// taken for granted.
func Uses(c *config.Config, a presets.Assignment) bool {
	name, is := a.Knob()
	if !is {
		return true
	}
	k, err := knob.Find(name)
	return err == nil && c.Uses(k) == nil
}
