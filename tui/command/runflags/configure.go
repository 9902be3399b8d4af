package runflags

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/task"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/machine"
	"pgrlab/tui/command/rundir"
)

// Configure makes the configuration that the flags ask for, complete and checked, and finds its
// task and device. The user can fix every error that it returns.
func (r *Flags) Configure(d cli.Deps) (config.Config, task.Task, error) {
	c, task, err := r.ConfigureElsewhere(d)
	if err == nil {
		err = cli.AsUsage(c.FitsInto(config.ThisMachine(), task))
	}
	if err == nil {
		err = cli.AsUsage(r.settleDevice(d, &c))
	}
	return c, task, err
}

// ConfigureElsewhere is Configure for a run that may be made on another machine: its device is not
// known yet.
func (r *Flags) ConfigureElsewhere(d cli.Deps) (config.Config, task.Task, error) {
	c, task, err := r.resolve(d)
	if err == nil {
		err = r.turn(&c)
	}
	if err == nil {
		err = c.Validate()
	}
	if err == nil {
		err = c.CanMake(task)
	}
	if err == nil && r.Resume == "" {
		err = c.CanFollow()
	}
	if err == nil && r.Resume == "" {
		err = c.KnowsEnds(task)
	}
	if err == nil {
		c.Device = r.deviceName(&c)
		err = machine.DeviceFlag(c.Device)
	}
	return c, task, cli.AsUsage(err)
}

// rays is what a maze's state is.
const rays = "rays"

// observed reads the values of --observation that name what a maze gives: "rays", or "rgb84" for frames
// of 84 by 84 pixels, which other tasks draw as well. Other values are returned as they are; side is 0 if
// the text has none.
func observed(text string) (observation string, side int) {
	if text == rays {
		return task.ObservationState, 0
	}
	if digits, is := strings.CutPrefix(text, "rgb"); is {
		if side, err := strconv.Atoi(digits); err == nil && side > 0 {
			return task.ObservationPixels, side
		}
	}
	return text, 0
}

// resolve is Configure without the knobs.
func (r *Flags) resolve(d cli.Deps) (config.Config, task.Task, error) {
	observation, side := observed(r.Environment.Observation)
	if observation != "" && observation != task.ObservationState && observation != task.ObservationPixels {
		return config.Config{}, task.Task{}, fmt.Errorf("--observation %s: want state or pixels, rgb64 for frames of 64×64, or in a maze rays", observation)
	}
	choice := presets.Choice{Preset: r.Preset, Task: r.Task, Method: r.Method, Scale: r.Scale, Observation: observation}
	if r.Command != "" {
		if choice.Task != "" {
			return config.Config{}, task.Task{}, fmt.Errorf("--task %s and --env %s name two tasks: leave one of them out", r.Task, r.Command)
		}
		choice.Task = d.Programs.NameOf(r.Command)
	}
	var found task.Task
	var err error
	if choice.Task != "" && !d.Simulates(choice.Task) && !task.Recorded(choice.Task) {
		if found, err = d.Task(choice.Task); err != nil {
			return config.Config{}, task.Task{}, err
		}
		choice.Task = found.Name // in the task's own spelling, to find the preset of that name
	}
	c, err := r.lay(choice, side)
	if err != nil {
		return config.Config{}, task.Task{}, err
	}
	if found, err = r.find(d, &c, choice, side, found); err != nil {
		return config.Config{}, task.Task{}, err
	}
	if r.Environment.Observation == rays && found.TVs == nil {
		return c, found, fmt.Errorf("--observation rays: only mazes have rays: want state or pixels in task %s", found.Name)
	}
	c.Task = found.Name
	if r.Changed("seed") {
		c.Seed = r.Seed
	}
	if r.Changed("members") {
		c.Members = r.members
	}
	if r.Changed("steps") {
		c.Steps = r.Steps
	}
	c.Steps = c.RoundUp(c.Steps)
	if r.Changed("action-repeat") {
		c.Environment.ActionRepeat = r.Environment.ActionRepeat
	}
	if r.Changed("tv") {
		c.Knobs.TV = cmp.Or(r.Environment.TV, knob.TVOff)
	}
	if err := c.CanPlay(found); err != nil { // before an environment complains about a learner's numbers
		return c, found, err
	}
	if found, err = found.Played(c.Played()); err != nil {
		return c, found, err
	}
	return c, found, r.record(&c, found)
}

// turn applies the knobs of --set and --at; what the run has no use for is refused.
func (r *Flags) turn(c *config.Config) error {
	all, err := r.assigned()
	if err != nil {
		return err
	}
	for _, a := range all {
		if name, is := a.Knob(); is {
			if err := turnKnob(c, name, a.Value); err != nil {
				return fmt.Errorf("%s: %w", a.as, err)
			}
		} else if err := a.UsedBy(c); err != nil {
			return fmt.Errorf("%s: %w", a.as, err)
		}
	}
	if r.schedule != "" {
		path, err := rundir.Find(r.schedule)
		if err != nil {
			return fmt.Errorf("--schedule: %w", err)
		}
		again, err := event.ReadSchedule(path)
		if err != nil {
			return fmt.Errorf("--schedule: %w", err)
		}
		for _, s := range again {
			c.Schedule = append(c.Schedule, s.String())
		}
	}
	for _, text := range r.At {
		s, err := knob.ParseScheduled(text)
		if err != nil {
			return fmt.Errorf("--at: %w", err)
		}
		copied := *c // a copy, only to check the value
		if err := turnKnob(&copied, s.Knob, s.Value); err != nil {
			return fmt.Errorf("--at %s: %w", text, err)
		}
		s.Value = c.Written(s.Knob, s.Value)
		if s.At = c.Place(s.At); s.At.Step >= c.Steps {
			return fmt.Errorf("--at %s: the run ends at step %d: choose an earlier step or more --steps", text, c.Steps)
		}
		c.Schedule = append(c.Schedule, s.String())
	}
	return nil
}

// turnKnob sets a knob if the run uses it.
func turnKnob(c *config.Config, name, value string) error {
	k, err := knob.Find(name)
	if err != nil {
		return fmt.Errorf("%w (pgrlab list knobs)", err)
	}
	if err := c.Uses(k); err != nil {
		return err
	}
	return c.Knobs.Set(name, c.Written(k.Name, value))
}
