package runflags

import (
	"errors"
	"fmt"
	"slices"

	"pgrlab/core/config"
	"pgrlab/presets"
)

// SetUsage is the help of flags --set that also take keys of config.toml.
const SetUsage = "`KEY=VALUE` start with another value of a knob, given by its name or symbol, or of a key of config.toml, such as generator.width=512 or agent.hidden=64,64, also written '[64,64]'; repeatable (pgrlab list knobs, pgrlab preset show)"

// flagged are the keys that have flags of their own, with these flags.
var flagged = map[string]string{
	"task": "task", "method": "method", "scale": "scale", "preset": "preset", "seed": "seed", "members": "members", "steps": "steps",
	"device": "device", "precision": "precision", "schedule": "at", "environment.observation": "observation",
	"environment.action_repeat": "action-repeat",
}

// ofSweeps is what a sweep has in place of these flags.
var ofSweeps = map[string]string{"seed": "--seeds", "members": "a file for --preset"}

// assignment is one value of --set or --vary.
type assignment struct {
	presets.Assignment
	as string // as it was given
}

// assigned parses the values of --set, and of --vary after them.
func (r *Flags) assigned() (all []assignment, err error) {
	for i, text := range slices.Concat(r.Set, r.Vary) {
		flag := "--set "
		if i >= len(r.Set) {
			flag = "--vary "
		}
		a, err := ParseAssignment(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag+text, err)
		}
		all = append(all, assignment{a, flag + text})
	}
	return all, nil
}

// Assignments parses the values of --set of preset show, which has no other flags than those of what is shown.
func Assignments(texts []string) (all []presets.Assignment, err error) {
	for _, text := range texts {
		a, err := presets.ParseAssignment(text)
		switch {
		case err != nil:
		case a.Key == "preset":
			err = errors.New("name it as the argument")
		case slices.Contains([]string{"task", "method", "scale", "environment.observation"}, a.Key):
			err = fmt.Errorf("use --%s", flagged[a.Key])
		}
		if err != nil {
			return nil, fmt.Errorf("--set %s: %w", text, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// ParseAssignment is presets.ParseAssignment for a key that has no flag of its own.
func ParseAssignment(text string) (presets.Assignment, error) {
	a, err := presets.ParseAssignment(text)
	if flag, has := flagged[a.Key]; err == nil && has {
		err = fmt.Errorf("use --%s", flag)
		if of, differs := ofSweeps[a.Key]; differs {
			err = fmt.Errorf("use --%s (in a sweep %s)", flag, of)
		}
	}
	return a, err
}

// assign sets the keys of --set that are not knobs. It comes before the task adapts its
// configuration; knobs are set after that, when it is known whether the run uses them.
func (r *Flags) assign(c *config.Config) error {
	all, err := r.assigned()
	if err != nil {
		return err
	}
	for _, a := range all {
		if name, is := a.Knob(); is {
			if name == "tv" { // part of what the task is played as
				_ = c.Knobs.Set(name, a.Value) // turn says what is wrong with it
			}
			continue
		}
		if err := presets.Set(c, a.Key, a.Value); err != nil {
			return fmt.Errorf("%s: %w", a.as, err)
		}
	}
	return nil
}
