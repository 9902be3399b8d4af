package config

import (
	"fmt"
	"slices"
	"strings"

	"pgrlab/core/knob"
	"pgrlab/core/task"
)

// planned returns the changes that c plans, in the order in which a run comes to them. An error says
// which of them no run of c can make, whatever its knobs are by then.
func (c *Config) planned() ([]knob.Scheduled, error) {
	var all []knob.Scheduled
	for _, text := range c.Schedule {
		s, err := knob.ParseScheduled(text)
		if err != nil {
			return nil, err
		}
		if _, _, err := c.ParseChange(s.Knob, s.Value); err != nil {
			return nil, fmt.Errorf("schedule %q: %w", text, err)
		}
		s.At = c.Place(s.At)
		all = append(all, s)
	}
	knob.SortSchedule(all)
	return all, nil
}

// CanFollow says which change of its schedule a new run would refuse when it comes to it: one that does
// not go together with the settings as they are by then, or one in a phase that the learner does not
// have. A run that has begun makes the others: by then a person may have changed what did not fit.
func (c *Config) CanFollow() error {
	all, err := c.planned()
	if err != nil {
		return err
	}
	phases := c.Traits(task.Task{}).Phases
	settings := c.Knobs
	for _, change := range all {
		if _, err := knob.LearnerPhase(change.At.Phase.String()); err == nil && !slices.Contains(phases, change.At.Phase.String()) {
			return fmt.Errorf("schedule %q: the learner of %s has no phase %s: want STEP, or a phase that the run has", change, c.Method, change.At.Phase)
		}
		err := settings.Set(change.Knob, change.Value)
		if err == nil {
			err = c.Fits(&settings)
		}
		if err != nil {
			return fmt.Errorf("schedule %q: %w", change, err)
		}
	}
	return nil
}

// Unreached says which changes of the schedule come too late to change anything in a run of c; "" if none
// does. A longer run makes them.
func (c *Config) Unreached() string {
	all, _ := c.planned() // Validate has looked at it
	all = slices.DeleteFunc(all, func(s knob.Scheduled) bool { return s.At.Step < c.Steps })
	if len(all) == 0 {
		return ""
	}
	var texts []string
	for _, s := range all[:min(len(all), 5)] {
		texts = append(texts, s.String())
	}
	if len(all) > len(texts) {
		texts = append(texts, "…")
	}
	return fmt.Sprintf("planned, but too late for a run of %s steps: %s: more --steps make it come about", knob.FormatCount(c.Steps), strings.Join(texts, ", "))
}
