package command

import (
	"fmt"
	"strings"

	"pgrlab/core/knob"
	"pgrlab/core/lab"
	"pgrlab/presets"
)

// configure makes the configuration that the flags ask for, complete and checked,
// and finds its task and device. Every error is the user's to mend.
func (r *runFlags) configure(d Deps) (lab.Config, lab.Task, error) {
	c, task, err := r.configureElsewhere(d)
	if err == nil {
		err = asUsage(c.FitsInto(lab.ThisMachine(), task))
	}
	if err == nil {
		err = asUsage(r.settleDevice(d, &c))
	}
	return c, task, err
}

// configureElsewhere is configure for a run that another machine may make: which device
// it finds is not known yet.
func (r *runFlags) configureElsewhere(d Deps) (lab.Config, lab.Task, error) {
	c, task, err := r.resolve(d)
	if err == nil {
		err = r.turn(&c)
	}
	if err == nil {
		err = c.Validate()
	}
	if err == nil {
		c.Device = r.deviceName(&c)
		err = deviceFlag(c.Device)
	}
	return c, task, asUsage(err)
}

// resolve is configure without the knobs.
func (r *runFlags) resolve(d Deps) (lab.Config, lab.Task, error) {
	choice := presets.Choice{Preset: r.preset, Task: r.task, Method: r.method, Scale: r.scale}
	if choice.Task != "" {
		task, err := d.task(choice.Task) // its own spelling, for the preset of that name
		if err != nil {
			return lab.Config{}, lab.Task{}, err
		}
		choice.Task = task.Name
	}
	c, err := presets.Resolve(choice)
	if err != nil {
		return lab.Config{}, lab.Task{}, err
	}
	task, err := d.task(c.Task)
	if err != nil {
		return lab.Config{}, lab.Task{}, err
	}
	c.Task = task.Name
	if r.changed("seed") {
		c.Seed = r.seed
	}
	if r.changed("steps") {
		c.Steps = r.steps
	}
	if r.changed("action-repeat") {
		c.Environment.ActionRepeat = r.environment.ActionRepeat
	}
	if r.changed("noise-share") {
		c.Environment.NoiseShare = r.environment.NoiseShare
	}
	if r.changed("noise-sigma") {
		c.Environment.NoiseSigma = r.environment.NoiseSigma
	}
	if task, err = task.Played(c.Environment); err != nil {
		return c, task, err
	}
	return c, task, nil
}

// turn applies --set and --at.
func (r *runFlags) turn(c *lab.Config) error {
	for _, text := range r.set {
		name, value, ok := strings.Cut(text, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" {
			return fmt.Errorf("--set %s: want knob=value, for example --set guidance=3", text)
		}
		if err := turnKnob(c, name, value); err != nil {
			return fmt.Errorf("--set %s: %w", text, err)
		}
	}
	if r.schedule != "" {
		path, err := find(r.schedule)
		if err != nil {
			return fmt.Errorf("--schedule: %w", err)
		}
		again, err := lab.ReadSchedule(path)
		if err != nil {
			return fmt.Errorf("--schedule: %w", err)
		}
		for _, s := range again {
			c.Schedule = append(c.Schedule, s.String())
		}
	}
	for _, text := range r.at {
		s, err := knob.ParseScheduled(text)
		if err != nil {
			return fmt.Errorf("--at: %w", err)
		}
		copied := *c // only to check the value
		if err := turnKnob(&copied, s.Knob, s.Value); err != nil {
			return fmt.Errorf("--at %s: %w", text, err)
		}
		if s.At.Step >= c.Steps {
			return fmt.Errorf("--at %s: the run ends at step %d: choose an earlier step or more --steps", text, c.Steps)
		}
		c.Schedule = append(c.Schedule, s.String())
	}
	return nil
}

// turnKnob sets a knob, if the run uses it.
func turnKnob(c *lab.Config, name, value string) error {
	k, err := knob.Find(name)
	if err != nil {
		return fmt.Errorf("%w (pgrlab list knobs)", err)
	}
	if err := c.Uses(k); err != nil {
		return err
	}
	return c.Knobs.Set(name, value)
}

func first(names ...string) string {
	for _, n := range names {
		if n != "" {
			return n
		}
	}
	return ""
}
