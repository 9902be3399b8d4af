package config

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/knob"
)

// Data are transitions that other programs have recorded, and that a run begins with.
type Data struct {
	Files  []string `toml:"files,omitempty"`
	SHA256 []string `toml:"sha256,omitempty"` // of the files; empty: they are looked at where the run begins
	Rows   int      `toml:"rows,omitempty"`   // of all files together, without those that are dropped
	// Mode says where the rows are; empty: DataSeed.
	Mode     string    `toml:"mode,omitempty"`
	Pretrain int       `toml:"pretrain,omitempty"` // critic updates in the first env step, in addition to its own
	ActLow   []float64 `toml:"act_low,omitempty"`  // bounds of the actions in the files, one for all or one for each; empty: [-1, 1], or what the files say
	ActHigh  []float64 `toml:"act_high,omitempty"`
	Done     string    `toml:"done,omitempty"` // what dones are in files that have nothing else about ends: terminal or timeout
}

// The choices of Data.Mode.
const (
	// DataSeed makes the rows the oldest ones of D_real, which are overwritten in time.
	DataSeed = "seed"
	// DataPinned keeps them apart from D_real, unchanged: the knob prior is the share of a batch's
	// real rows that is drawn from them.
	DataPinned = "pinned"
)

// Given says whether there are any.
func (d Data) Given() bool { return len(d.Files) > 0 }

// Pinned says whether the rows are kept apart.
func (d Data) Pinned() bool { return d.Given() && d.Mode == DataPinned }

// Seeds says whether the rows are the oldest ones of D_real.
func (d Data) Seeds() bool { return d.Given() && d.Mode != DataPinned }

// validateData says what is wrong with the data, or with their combination with other parts.
func (c *Config) validateData(s agent.Spec) error {
	d := c.Data
	switch {
	case !d.Given() && (d.Pretrain != 0 || d.Mode != "" || len(d.ActLow)+len(d.ActHigh)+len(d.SHA256)+d.Rows != 0 || d.Done != ""):
		return fmt.Errorf("data has settings, but no files to apply them to: name one with --data")
	case !d.Given():
		return nil
	case d.Mode != "" && d.Mode != DataSeed && d.Mode != DataPinned:
		return fmt.Errorf("data.mode is %q, want %q or %q", d.Mode, DataSeed, DataPinned)
	case c.Sees() || c.Fills():
		return fmt.Errorf("data are of states, and learner %s of method %s learns from what it sees: want a method as %s", s.Name, c.Method, MethodREDQ)
	case !s.Idle && !s.Batches || s.Observes || s.Discrete:
		return fmt.Errorf("data are for learners of batches of transitions, and learner %s of method %s learns from its own env steps only: want a method as %s", s.Name, c.Method, MethodREDQ)
	case d.Pinned() && c.Replay.Prioritized():
		return fmt.Errorf("replay.priority is %q, and pinned data have no priorities: want %q, or data.mode %q", c.Replay.Priority, FunctionNone, DataSeed)
	case d.Seeds() && d.Rows > c.Buffer:
		return fmt.Errorf("buffer is %d, and the data have %d rows: want a larger one with --set buffer=%[2]d, or data.mode %q", c.Buffer, d.Rows, DataPinned)
	case d.Pretrain < 0:
		return fmt.Errorf("data.pretrain is %d, want a count from 0", d.Pretrain)
	case len(d.SHA256) > 0 && len(d.SHA256) != len(d.Files):
		return fmt.Errorf("data.sha256 has %d sums for %d files", len(d.SHA256), len(d.Files))
	}
	return nil
}

// FirstRefit is the step of the first refit: the first of the cadence, or the first step of all if D_real begins
// with data. Rollouts are of a policy that learns, and none are made while it acts at random (MBPO:
// mbpo/algorithms/mbpo.py, _initial_exploration_hook; MAX: main.py): the first model is of all those steps.
func (c *Config) FirstRefit(every int) int {
	switch {
	case c.Data.Seeds():
		return c.Environment.InLockstep()
	case c.Has()&knob.UseRollouts != 0:
		return c.RoundUp(max(every, c.StartSteps))
	}
	return c.RoundUp(every)
}

// Refits says whether a refit is due in the env step that ends at step: the first one, or one of the cadence
// after it.
func (c *Config) Refits(step, every int) bool {
	if !c.Generates() {
		return false
	}
	first := c.FirstRefit(every)
	return step == first || step > first && c.Reaches(step, every)
}

// NextRefit is the step of the next refit after step; 0 if the method has none.
func (c *Config) NextRefit(step, every int) int {
	if !c.Generates() {
		return 0
	}
	if first := c.FirstRefit(every); step < first {
		return first
	}
	return c.RoundUp((step/every + 1) * every)
}
