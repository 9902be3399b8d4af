package config

import (
	"cmp"
	"fmt"
	"slices"

	"pgrlab/core/agent"
	_ "pgrlab/core/agent/learners" // the learners that agent.learner chooses from
	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/table"
	"pgrlab/core/task"
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

	Steps      int `toml:"steps"`       // env steps of the run, of all copies of the environment together
	StartSteps int `toml:"start_steps"` // random actions, and no updates, while the buffer holds at most so many transitions
	Buffer     int `toml:"buffer"`      // capacity of D_real and of D_syn

	Environment task.Environment `toml:"environment"`
	Pixels      agent.Pixels     `toml:"pixels"` // for learners that see frames
	Evaluation  Evaluation       `toml:"evaluation"`
	Agent       agent.Config     `toml:"agent"`
	Replay      Replay           `toml:"replay"`
	Data        Data             `toml:"data,omitempty"`
	Bonus       Bonus            `toml:"bonus"`
	// Relevance are the settings of relevance functions; in a document, each has a table of the
	// function's name (see Document).
	Relevance relevance.Configs `toml:"-"`
	// Formulas are formulas for F by their names.
	Formulas  map[string]Formula `toml:"relevance,omitempty"`
	Generator Generator          `toml:"generator"`
	Knobs     knob.Settings      `toml:"knobs"`

	// Schedule are knob changes at positions, each "STEP:knob=value",
	// "STEP:knob=value!" or "STEP/PHASE:i:knob=value" (see ParseScheduled).
	Schedule []string `toml:"schedule"`
}

// GeneratorNone is the Generator.Kind of methods that use real data only; the others are
// those of package generative.
const GeneratorNone = "none"

// LearnerNone is the agent.learner of runs that have no agent.
const LearnerNone = agent.None

// Built-in methods, for messages that name the methods which use a knob.
const (
	MethodSAC     = "sac"
	MethodREDQ    = "redq"
	MethodSynthER = "synther"
	MethodMAX     = "max"
)

// Document returns a pointer to c as one struct, with a field for the table of each part that
// brings settings along. This is what configuration files hold. Take of package table writes it
// back.
func (c *Config) Document() any { return table.Of(c) }

// FixedFunctions are the relevance functions that the run needs whatever the knob relevance
// says: those of the bonus and of the priorities.
func (c *Config) FixedFunctions() (names []string) {
	if c.Bonus.Given() {
		names = append(names, c.Bonus.Function)
	}
	if c.Replay.Prioritized() && c.Replay.Priority != PriorityTD && !slices.Contains(names, c.Replay.Priority) {
		names = append(names, c.Replay.Priority)
	}
	return names
}

// Generates says whether the method has a generator.
func (c *Config) Generates() bool { return c.Generator.Kind != GeneratorNone }

// Prompted says whether the method has a conditional generator.
func (c *Config) Prompted() bool { return c.Generates() && c.Generator.Conditional }

// Analyses says whether the run describes its generations and its critics' bias.
func (c *Config) Analyses() bool { return c.Evaluation.AnalysedRows > 0 }

// Uses says whether a run of c uses the knob; the error names the methods which do. Where the method
// would use it with its own generator, the error names that of c.
func (c *Config) Uses(k knob.Knob) error {
	err := k.UsedBy(c.Method, c.Has())
	if err == nil || !c.Generates() || !slices.Contains(k.Methods(), c.Method) {
		return err
	}
	return fmt.Errorf("%s: not used with generator.kind %q%s", k.Name, c.Generator.Kind, c.insteadOfKind(": take method %s as it is"))
}

// insteadOfKind is text with the name of the built-in method that has the generator of c; "" if it is
// the method of c, or if there is none.
func (c *Config) insteadOfKind(text string) string {
	name := c.Generator.Kind
	if c.Prompted() {
		name = "pgr-" + name
	}
	if name == c.Method || !slices.Contains(knob.Knob{}.Methods(), name) {
		return ""
	}
	return fmt.Sprintf(text, name)
}

// Has returns what the knobs of a run of c can act on.
func (c *Config) Has() (has knob.Use) {
	if c.Generates() {
		has |= knob.UseGenerator
	}
	if !c.Dreams() {
		has |= knob.UseAgent
	}
	if c.Prompted() {
		has |= knob.UsePrompts
	}
	kind, err := generative.Find(cmp.Or(c.Generator.Kind, "diffusion"))
	if err == nil && kind.Denoises {
		has |= knob.UseDiffusion
	}
	if err == nil && (kind.Learns || c.Generator.Head.Enabled()) {
		has |= knob.UseFit
	}
	if err == nil && kind.RollsOut {
		has |= knob.UseRollouts
	}
	if c.Bonus.Given() {
		has |= knob.UseBonus
	}
	if c.Data.Pinned() {
		has |= knob.UsePrior
	}
	learner, _ := c.Agent.Spec() // Validate has looked at it
	for _, name := range learner.Knobs {
		k, _ := knob.Find(name)
		has |= k.Use
	}
	return has
}

// Roll is how many env steps follow each chunk of a D_syn that "now" has made again without a fit: its rows
// come into force as they are made, over the oldest ones, and D_syn is mixed meanwhile. It is 0 where D_syn
// comes into force as a whole: as the configuration says, and where rows of two generations do not go
// together, or are not the same if env steps are made between them. Those are latents, whose origin is known
// by that of all of D_syn; rows with F of the time when they were made; actions of the policy; several
// generations; and a run that makes no env steps.
func (c *Config) Roll() int {
	if c.Fills() || c.Explores() || c.Dreams() || c.Generator.Generations() > 1 || c.RollsOutPolicy() {
		return 0
	}
	return c.Generator.Roll
}

// Dreams says whether the run has no agent: each of its steps fits or prompts the generator on the
// transitions that there are, and waits for a change.
func (c *Config) Dreams() bool {
	s, _ := c.Agent.Spec() // Validate has looked at it
	return s.Idle
}

// Explores says whether the learner has an agent of its own that explores for F of generated rows.
func (c *Config) Explores() bool {
	s, _ := c.Agent.Spec() // Validate has looked at it
	return s.Explores
}

// Chooses says whether the learner chooses among actions; otherwise its actions are numbers.
func (c *Config) Chooses() bool {
	s, _ := c.Agent.Spec() // Validate has looked at it
	return s.Discrete
}

// Sees says whether the learner sees frames.
func (c *Config) Sees() bool {
	s, _ := c.Agent.Spec() // Validate has looked at it
	return s.Takes == agent.TakesPixels || s.Takes == agent.TakesEither && c.Environment.Observation == task.ObservationPixels
}

// Observation is what the learner is given of the task.
func (c *Config) Observation() string {
	if c.Sees() {
		return task.ObservationPixels
	}
	return task.ObservationState
}

// Frames converts steps to control steps of the task. Publications on learning from pixels call
// these frames.
func (c *Config) Frames(steps int) int { return steps * max(1, c.Environment.ActionRepeat) }

// EnvSteps is how many env steps so many steps of a member are: each is one step in every copy of
// the environment. Lengths, cadences and positions of a run count steps, as publications on
// learning in several copies do.
func (c *Config) EnvSteps(steps int) int { return steps / c.Environment.InLockstep() }

// RoundUp is the first step, from that one on, at which an env step ends.
func (c *Config) RoundUp(step int) int {
	copies := c.Environment.InLockstep()
	return (step + copies - 1) / copies * copies
}

// Place is the position in the run that p stands for: in the env step that reaches p's step.
func (c *Config) Place(p knob.Position) knob.Position {
	p.Step = c.RoundUp(p.Step)
	return p
}

// Reaches says whether the env step that ends at step reaches a multiple of every, which is at
// least 1.
func (c *Config) Reaches(step, every int) bool {
	return step/every > (step-c.Environment.InLockstep())/every
}

// Evaluations returns how many evaluations a run of c makes after an env step: by the cadence, and at
// its end.
func (c *Config) Evaluations(after int) (n int) {
	every := c.Evaluation.Every
	if every == 0 || after >= c.Steps {
		return 0
	}
	n = c.Steps/every - after/every
	if c.Steps%every != 0 {
		n++
	}
	return n
}

// Functions are the relevance functions that the run may come to use: all that its learner can
// use if the knob relevance chooses among them at any time, and otherwise those of bonus and
// priorities.
func (c *Config) Functions() (names []string) {
	if c.Prompted() {
		return slices.DeleteFunc(relevance.Names(), func(name string) bool { return c.CanMeet(name) != nil })
	}
	for _, name := range c.FixedFunctions() {
		names = append(names, relevance.Named(name)...)
	}
	return names
}

// Used are the functions of the registry that the run needs as it begins: those of bonus, priorities and
// F, of a formula those that it names.
func (c *Config) Used() (names []string) {
	for _, name := range append(c.FixedFunctions(), c.Knobs.Relevance) {
		names = append(names, relevance.Named(name)...)
	}
	return names
}

// HasModels returns why the generator has no models of the dynamics whose predictions can be compared;
// nil: it has.
func (c *Config) HasModels() error {
	kind, err := generative.Find(cmp.Or(c.Generator.Kind, GeneratorNone))
	switch {
	case err != nil || kind.Models == nil:
		return fmt.Errorf("generator.kind %q has no models of the dynamics that could disagree: want %q", c.Generator.Kind, "ensemble")
	case c.Generator.Head.Enabled():
		return fmt.Errorf("generator.head.kind %q predicts s' and r of generated rows in place of the models: want %q", c.Generator.Head.Kind, generative.HeadNone)
	}
	_, err = kind.Models(c.Generator.Kinds.Of(c.Generator.Kind), nil)
	return err
}

// CanMeet returns why the run's learner, or its generator, cannot use F of that name; nil: it can.
func (c *Config) CanMeet(name string) error {
	spec, err := relevance.Find(name)
	learner, _ := c.Agent.Spec() // Validate has looked at the error
	switch {
	case err == nil && relevance.IsFormula(name) && c.Explores():
		return fmt.Errorf("relevance is a formula, and learner %s learns from F of generated rows: want the name of a function", learner.Name)
	case err == nil && learner.Idle && relevance.Valued(name) != "":
		return fmt.Errorf("relevance: %s is of an agent's estimates, and there is no agent: want another function, as curiosity, rnd, count or reward", relevance.Valued(name))
	case err == nil && learner.Observes && relevance.Valued(name) != "":
		return fmt.Errorf("relevance: %s is of an agent's estimates, and learner %s has none of rows: want another function, as curiosity, rnd, count or reward", relevance.Valued(name), learner.Name)
	case err == nil && !learner.Idle && !learner.Batches && (slices.Contains(relevance.Uses(name), "q") || slices.Contains(relevance.Uses(name), "q_std")):
		return fmt.Errorf("relevance: q and q_std are of critics of single actions, which learner %s lacks: want td or return", learner.Name)
	case err == nil && learner.Batches && c.Bonus.Given() && slices.ContainsFunc(relevance.Named(name), isTD):
		return fmt.Errorf("relevance: td is of the rewards in D_real, and critics learn from those and bonus.function %q together: want another function, or no bonus", c.Bonus.Function)
	case err == nil && spec.Learning == relevance.LearnsWithGenerator:
		if err := c.HasModels(); err != nil {
			return fmt.Errorf("relevance %q: %w", name, err)
		}
		return nil
	case err != nil || spec.Learning != relevance.LearnsInRounds:
		return err
	case !learner.Observes:
		return fmt.Errorf("relevance %q is of episodes as they are met, and learner %s of method %s learns from transitions in any order: want another function, or a method with a learner of rollouts, as ppo", name, learner.Name, c.Method)
	}
	return nil
}

// isTD says whether a function is of the critics' errors.
func isTD(name string) bool { return name == "td" || name == "td-signed" }

// Offered is the knob k of a run of c, with only those choices that the run can take.
func (c *Config) Offered(k knob.Knob) knob.Knob {
	if k.Name == "relevance" {
		k.Choices = slices.DeleteFunc(slices.Clone(k.Choices), func(name string) bool { return c.CanMeet(name) != nil })
		k.Choices = append(k.Choices, slices.DeleteFunc(c.FormulaNames(), func(name string) bool { return c.CanMeet(c.Written("relevance", name)) != nil })...)
	}
	return k
}

// Learner returns the run's learner, and what a learner is made from on a task.
func (c *Config) Learner(task task.Task) (agent.Spec, agent.Deps) {
	s, _ := c.Agent.Spec() // Validate has looked at it
	return s, agent.Deps{
		Config: c.Agent, Settings: c.Agent.Own.Of(s), Shape: replay.Shape{Obs: task.ObsSize, Act: task.ActSize}, Sees: c.Sees(), Pixels: c.Pixels,
		Copies: c.Environment.InLockstep(), Length: c.EnvSteps(c.Steps), Start: c.randomSteps(), Weighted: c.Replay.Prioritized(), Generates: c.Generates(), Bonus: c.Bonus.Given() || c.Environment.CellBonus > 0,
	}
}

// Traits are what is known of the run's learner before it is made. Without a task those are right that
// do not depend on one.
func (c *Config) Traits(task task.Task) agent.Traits {
	s, d := c.Learner(task)
	t, _ := s.Traits(d) // CanMake looks at the error
	return t
}

// Sight describes the frames that the run sees of its task; it is zero if the run sees none.
func (c *Config) Sight() relevance.Frames {
	if !c.Sees() {
		return relevance.Frames{}
	}
	return relevance.Frames{Side: c.Pixels.Side, Stack: c.Pixels.Stack}
}

// Fills says whether the learner fills D_real with rows of its own.
func (c *Config) Fills() bool { return c.Traits(task.Task{}).Fills() }

// Imagines says whether the learner has a model of the world.
func (c *Config) Imagines() bool { return c.Traits(task.Task{}).Imagines }

// Rows is the shape of the transitions in D_real and D_syn.
func (c *Config) Rows(task task.Task) replay.Shape {
	if t := c.Traits(task); t.Fills() {
		return t.Rows
	}
	return replay.Shape{Obs: task.ObsSize, Act: task.ActSize}
}

// Mix is how a run of this configuration splits a batch into real and synthetic rows
// under settings; available is the number of synthetic transitions.
func (c *Config) Mix(s *knob.Settings, available int) replay.Mix {
	if !c.Generates() {
		return replay.Mix{Real: s.Batch}
	}
	return s.Mix(available)
}

// Longer returns c with more steps, for a run of c that goes on beyond its end as if it had had
// them from the start. No run can if something follows a schedule over its whole length; the
// error says what.
func (c Config) Longer(steps int) (Config, error) {
	if steps <= c.Steps {
		return c, fmt.Errorf("%s steps are not more than the %s that it has", knob.FormatCount(steps), knob.FormatCount(c.Steps))
	}
	if c.Replay.Prioritized() {
		return c, fmt.Errorf("the weights of its prioritized replay follow its length: β rises from %g to 1 over %s steps", FirstBeta, knob.FormatCount(c.Steps))
	}
	if what := c.Traits(task.Task{}).Follows; what != "" {
		return c, fmt.Errorf("%s follow its length of %s steps", what, knob.FormatCount(c.Steps))
	}
	c.Steps = c.RoundUp(steps)
	return c, nil
}

// Disjoint is a seed for the n-th run beside this one. No two such runs share a member's seed.
func (c Config) Disjoint(n int) uint64 { return c.Seed + uint64(n*max(1, c.Members)) }

// New is a configuration with the constants that no document sets.
func New() Config {
	c := Config{}
	c.Agent.NoisySigma = 0.5 // Fortunato et al. 2018, §3.2: σ₀ of factorised noise
	c.Agent.Candidates = 10  // our choice: Boot-DQN chooses among discrete actions; here a critic chooses among samples of the continuous policy
	c.Generator.Config = generative.Constants()
	return c
}
