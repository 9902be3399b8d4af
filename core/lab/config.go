package lab

import (
	"fmt"
	"slices"

	"pgrlab/core/agent"
	_ "pgrlab/core/agent/learners" // those that agent.learner chooses from
	"pgrlab/core/device"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/table"
)

// Config is everything that a run is made from, fully resolved: config.toml of a
// run folder is a Config. Knobs are the values that a person may change while the
// run goes on; everything else is fixed.
type Config struct {
	Task   string `toml:"task"`
	Method string `toml:"method"`
	Scale  string `toml:"scale"`
	Preset string `toml:"preset,omitempty"`
	Device string `toml:"device"` // cpu or cuda; a preset may say auto
	// Precision is what a GPU rounds the factors of large matrix products to: fp32,
	// tf32 or bf16. "" on the CPU, which rounds nothing.
	Precision string `toml:"precision,omitempty"`

	Seed    uint64 `toml:"seed"`
	Members int    `toml:"members"` // agents in lockstep; member i has seed+i

	Steps      int `toml:"steps"`       // env steps of the run
	StartSteps int `toml:"start_steps"` // random actions, and no updates, while the buffer holds at most so many transitions
	Buffer     int `toml:"buffer"`      // capacity of D_real and of D_syn
	Lanes      int `toml:"lanes"`       // fixed parts of every reduction over rows

	Environment Environment  `toml:"environment"`
	Evaluation  Evaluation   `toml:"evaluation"`
	Agent       agent.Config `toml:"agent"`
	Replay      Replay       `toml:"replay"`
	Bonus       Bonus        `toml:"bonus"`
	// Relevance are the settings of relevance functions: in a document a table each, of
	// the function's name; see Document.
	Relevance relevance.Configs `toml:"-"`
	Generator Generator         `toml:"generator"`
	Knobs     knob.Settings     `toml:"knobs"`

	// Schedule are knob changes at positions, each "STEP:knob=value",
	// "STEP:knob=value!" or "STEP/PHASE:i:knob=value" (see ParseScheduled).
	Schedule []string `toml:"schedule"`
}

// Evaluation is how and when a run is judged.
type Evaluation struct {
	Every         int     `toml:"every"`             // env steps; 0: never
	Episodes      int     `toml:"episodes"`          // in lockstep
	Actions       string  `toml:"actions,omitempty"` // of the policy: "mean", as is the empty one, or "sample"
	DormantStates int     `toml:"dormant_states"`    // real states on which the dormant ratio is taken
	DormantTau    float64 `toml:"dormant_tau"`       // its threshold
	AnalysedRows  int     `toml:"analysed_rows"`     // synthetic transitions that are held to the real ones after each generation; 0: no analyses
	AnalyseEvery  int     `toml:"analyse_every"`     // env steps between the analyses of pgrlab analyse, as lines of the journal; 0: never
	KeepEvery     int     `toml:"keep_every"`        // env steps between checkpoints that stay on the disk, for analyses of earlier times; 0: none
}

// GeneratorNone is the Generator.Kind of methods that use real data only; the others are
// those of package generative.
const GeneratorNone = "none"

// Methods that are built in, for lines that name the methods which use a knob.
const (
	MethodSAC     = "sac"
	MethodREDQ    = "redq"
	MethodSynthER = "synther"
)

// Validate says in one line what is wrong with c, or returns nil. It does not
// look into the generator's and the curiosity model's own settings; New does.
func (c *Config) Validate() error {
	if c.Lanes != device.Lanes {
		return fmt.Errorf("configuration: lanes is %d: this version computes with %d", c.Lanes, device.Lanes)
	}
	if err := c.validateLearner(); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	if c.Agent.Subset > c.Agent.Critics {
		return fmt.Errorf("configuration: agent.subset is %d of %d critics", c.Agent.Subset, c.Agent.Critics)
	}
	if g := c.Agent.Gamma; !(g >= 0 && g < 1) {
		return fmt.Errorf("configuration: agent.gamma is %g, want a number from 0 to below 1", g)
	}
	if _, err := c.Evaluation.mode(); err != nil {
		return err
	}
	if c.generates() {
		kind, err := generative.Find(c.Generator.Kind)
		if err == nil && kind.Check != nil {
			err = kind.Check(c.Generator.Config)
		}
		if err != nil {
			return fmt.Errorf("configuration: %w", err)
		}
	}
	if c.Buffer <= c.StartSteps {
		return fmt.Errorf("configuration: buffer is %d and start_steps %d: it would never hold enough to train on", c.Buffer, c.StartSteps)
	}
	if err := c.validateParts(); err != nil {
		return err
	}
	if err := c.Knobs.Validate(); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	for _, text := range c.Schedule {
		s, err := knob.ParseScheduled(text)
		if err != nil {
			return err
		}
		k, err := knob.Find(s.Knob)
		if err != nil {
			return fmt.Errorf("schedule %q: %w", text, err)
		}
		if _, err := k.Parse(s.Value); err != nil {
			return fmt.Errorf("schedule %q: %w", text, err)
		}
	}
	return c.validateNumbers()
}

// validateParts says what is wrong with the combination of parts.
func (c *Config) validateParts() error {
	switch {
	case c.Replay.prioritized() && c.generates():
		return fmt.Errorf("configuration: replay.priority is %q with synthetic transitions, which have no priorities: want replay.priority %q, or generator.kind %q", c.Replay.Priority, FunctionNone, GeneratorNone)
	case !c.generates() && c.Generator.Conditional:
		return fmt.Errorf("configuration: generator.conditional is true, but generator.kind is %q: want conditional false, or kind %q", GeneratorNone, generative.Specs()[0].Kind)
	case !c.generates() && c.Knobs.Ratio != 0:
		return fmt.Errorf("configuration: ratio is %g, but method %s has no generator that would make synthetic transitions: want 0, or a method with one, as %s", c.Knobs.Ratio, c.Method, MethodSynthER)
	case !c.prompted() && c.Knobs.Relevance != relevanceNone:
		return fmt.Errorf("configuration: relevance is %q, but method %s has no generator that is told what to generate: want %q, or a method pgr-…", c.Knobs.Relevance, c.Method, relevanceNone)
	case c.Generator.Vector == generative.VectorPair && c.Generator.Head.Kind != generative.HeadTransition:
		return fmt.Errorf("configuration: generator.vector is %q, but generator.head.kind %q tells no s' of it: want head.kind %q, or vector %q", generative.VectorPair, c.Generator.Head.Kind, generative.HeadTransition, generative.VectorTransition)
	}
	for _, name := range trainedModels {
		if every := c.Relevance.Pace(name).Every; every < 0 {
			return fmt.Errorf("configuration: %s.every is %d, want critic updates, or 0 for one update per env step", name, every)
		}
	}
	if err := c.Replay.validate(); err != nil {
		return err
	}
	if err := c.Bonus.validate(); err != nil {
		return err
	}
	if err := c.fits(&c.Knobs); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	return nil
}

// Document returns a pointer to c as one struct, with a field for the table of each
// part that brings settings along: what files of configurations hold. Take of package
// table writes it back.
func (c *Config) Document() any { return table.Of(c) }

// extra are the relevance functions that the run needs whatever the knob says: that of
// the bonus and that of the priorities.
func (c *Config) extra() (names []string) {
	if c.Bonus.given() {
		names = append(names, c.Bonus.Function)
	}
	if c.Replay.prioritized() && c.Replay.Priority != PriorityTD && !slices.Contains(names, c.Replay.Priority) {
		names = append(names, c.Replay.Priority)
	}
	return names
}

// generates says whether the method has a generator.
func (c *Config) generates() bool { return c.Generator.Kind != GeneratorNone }

// prompted says whether the generator can be told what to generate.
func (c *Config) prompted() bool { return c.generates() && c.Generator.Conditional }

// analyses says whether the run describes its generations and its critics' bias.
func (c *Config) analyses() bool { return c.Evaluation.AnalysedRows > 0 }

// Uses says whether a run of c uses the knob; the error names the methods which do.
func (c *Config) Uses(k knob.Knob) error { return k.UsedBy(c.Method, c.Has()) }

// Has is what knobs of a run of c can act on.
func (c *Config) Has() (has knob.Use) {
	if c.generates() {
		has |= knob.UseGenerator
	}
	if c.prompted() {
		has |= knob.UsePrompts
	}
	if kind, err := generative.Find(c.Generator.Kind); err == nil && kind.Denoises || c.Generator.Kind == "" {
		has |= knob.UseDiffusion
	}
	if c.Bonus.given() {
		has |= knob.UseBonus
	}
	learner, _ := c.Agent.Spec() // Validate has looked at it
	for _, name := range learner.Knobs {
		k, _ := knob.Find(name)
		has |= k.Use
	}
	return has
}
