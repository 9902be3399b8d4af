package config

import (
	"fmt"

	"pgrlab/core/agent"
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

// Refits says whether a refit is due in the env step that ends at step: by the cadence, or, if
// D_real begins with data, in the first one.
func (c *Config) Refits(step, every int) bool {
	return c.Generates() && (c.Reaches(step, every) || c.Data.Seeds() && step == c.Environment.InLockstep())
}

// NextRefit is the step of the next refit after step; 0 if the method has none.
func (c *Config) NextRefit(step, every int) int {
	switch {
	case !c.Generates():
		return 0
	case c.Data.Seeds() && step < c.Environment.InLockstep():
		return c.Environment.InLockstep()
	}
	return c.RoundUp((step/every + 1) * every)
}
