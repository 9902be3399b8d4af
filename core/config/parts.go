package config

import (
	"fmt"
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// Evaluation says how and when a run is evaluated.
type Evaluation struct {
	Every         int    `toml:"every"`             // env steps; 0: never
	Episodes      int    `toml:"episodes"`          // in lockstep
	Actions       string `toml:"actions,omitempty"` // of the policy: "mean" or "sample"; empty: "mean"
	DormantStates int    `toml:"dormant_states"`    // real states on which the dormant ratio is taken
	AnalysedRows  int    `toml:"analysed_rows"`     // synthetic transitions that are compared with the real ones after each generation; 0: no analyses
	AnalyseEvery  int    `toml:"analyse_every"`     // env steps between analyses like those of pgrlab analyse, as lines of the journal; 0: never
	KeepEvery     int    `toml:"keep_every"`        // env steps between checkpoints that stay on the disk, for analyses of earlier times; 0: none
}

// The choices of Evaluation.Actions.
const (
	ActionsMean   = "mean"
	ActionsSample = "sample" // for policies whose mean gets stuck
)

// Mode is how the policy acts in an evaluation.
func (e Evaluation) Mode() (agent.Mode, error) {
	switch e.Actions {
	case "", ActionsMean:
		return agent.Mean, nil
	case ActionsSample:
		return agent.Sample, nil
	}
	return 0, fmt.Errorf("configuration: evaluation.actions is %q, want %q or %q", e.Actions, ActionsMean, ActionsSample)
}

// Replay says how batches of real transitions are sampled.
type Replay struct {
	// Priority is "none" or empty if all transitions are drawn alike; "td" for priorities by the
	// size of the error |mean Q(s,a) − y| when a transition was last trained on; or a relevance
	// function that learns in steps, for priorities by F at that time, as its paper defines it
	// (Schaul et al. 2016).
	Priority string `toml:"priority"`
}

// FirstBeta is β, the exponent of the importance weights, in the first env step; it rises linearly to 1 in
// the last (Schaul et al. 2016, the proportional variant; the paper does not say).
const FirstBeta = 0.4

func (r Replay) validate() error {
	if !r.Prioritized() {
		return nil
	}
	if trained := relevance.NamesOf(relevance.LearnsInSteps); r.Priority != PriorityTD && !slices.Contains(trained, r.Priority) {
		return fmt.Errorf("configuration: replay.priority is %q, want %q, %q, or a function that learns in steps: %q", r.Priority, FunctionNone, PriorityTD, trained)
	}
	return nil
}

// Prioritized says whether transitions have priorities.
func (r Replay) Prioritized() bool { return r.Priority != "" && r.Priority != FunctionNone }

// Priorities are the constants of prioritized replay (Schaul et al. 2016, the proportional variant; the
// paper does not say). Epsilon leaves no transition out of reach.
var Priorities = replay.PriorityConfig{Alpha: 0.6, Epsilon: 1e-6}

// Bonus is relevance that is added to the reward which the agent learns from: r + bonus·F, with
// the strength of the knob bonus, for any F that learns in steps or in rounds. It is computed by
// the model as it is when a batch is sampled, for synthetic transitions too; for a learner that
// takes no batches, when it observes an env step. Evaluations do not include it, and D_real does not
// either, unless the learner fills D_real itself: then its rewards are those that were observed.
type Bonus struct {
	Function string `toml:"function"` // "none" or empty, or a relevance function that learns in steps or in rounds
	Scale    string `toml:"scale"`    // of F: "returns" or "paper"
}

// Choices of Bonus.Function and of Replay.Priority other than relevance functions.
const (
	FunctionNone = "none" // of both
	PriorityTD   = "td"   // of Replay.Priority
)

// The choices of Bonus.Scale. The paper gives a strength of 0.1 and no scale; what its text and
// its code call F differs by a factor of 128.
const (
	// ScaleReturns divides the paper's F by the standard deviation of its discounted return
	// along the collected transitions, as random network distillation does with its bonus (Burda
	// et al. 2019, §2.4). See bonusReturn in package replica.
	ScaleReturns = "returns"
	// ScalePaper takes F as its paper defines it, for curiosity ½‖g(h(s),a) − h(s')‖².
	ScalePaper = "paper"
)

func (b Bonus) validate() error {
	if !b.Given() {
		return nil
	}
	trained, episodic := relevance.NamesOf(relevance.LearnsInSteps), relevance.NamesOf(relevance.LearnsInRounds)
	if relevance.IsFormula(b.Function) {
		if err := ofBatches(b.Function); err != nil {
			return fmt.Errorf("configuration: bonus.function: %w", err)
		}
	} else if !slices.Contains(trained, b.Function) && !slices.Contains(episodic, b.Function) {
		return fmt.Errorf("configuration: bonus.function is %q, want %q, one that learns in steps or in rounds: %q, %q, or a formula", b.Function, FunctionNone, trained, episodic)
	}
	if b.Scale != ScaleReturns && b.Scale != ScalePaper {
		return fmt.Errorf("configuration: bonus.scale is %q, want %q or %q", b.Scale, ScaleReturns, ScalePaper)
	}
	if b.Scale == ScaleReturns && slices.Contains(episodic, b.Function) {
		return fmt.Errorf("configuration: bonus.scale is %q, but bonus.function %q has either sign, and it is 0 before its first round, so that there is nothing to divide it by: want %q", b.Scale, b.Function, ScalePaper)
	}
	return nil
}

// ofBatches says why a formula cannot be computed of single batches while a run goes on; nil: it can.
func ofBatches(name string) error {
	if _, err := relevance.Canonical(name); err != nil {
		return err
	}
	if slices.Contains(relevance.Uses(name), "age") {
		return fmt.Errorf("%s names age, which the batches that an agent learns from do not have: want a formula without it", name)
	}
	for _, need := range relevance.Needs(name) {
		switch s, _ := relevance.Find(need); {
		case s.Learning == relevance.LearnsFromAll:
			return fmt.Errorf("%s has functions of a whole column, and a bonus sees single batches: want a formula without them", name)
		case s.Learning != relevance.LearnsNothing && s.Learning != relevance.LearnsInSteps:
			return fmt.Errorf("%s names %s, which is known at refits only: want another function", name, need)
		}
	}
	return nil
}

// TooShort says what a run of these steps never comes to: its first update, its first generation, or
// the first round of a function that learns in rounds.
func (c *Config) TooShort() (texts []string) {
	say := func(format string, args ...any) {
		texts = append(texts, fmt.Sprintf(format, args...)+fmt.Sprintf(", and the run has %s", knob.FormatCount(c.Steps)))
	}
	if first := c.RoundUp(c.StartSteps + 1); first > c.Steps && !c.Data.Seeds() && !c.Data.Pinned() {
		say("no update is made: the first %s steps are random (start_steps)", knob.FormatCount(c.StartSteps))
	}
	if c.Generates() {
		if first := c.FirstRefit(c.Knobs.RefitEvery); first >= c.Steps {
			say("no synthetic row is learned from: the first refit is at step %s (refit_every)", knob.FormatCount(first))
		}
	}
	for _, name := range append(c.FixedFunctions(), c.Knobs.Relevance) {
		settings, in := c.Relevance.Of(name).(relevance.ConfigOfEpisodes)
		if !in {
			continue
		}
		copies := c.Environment.InLockstep()
		if first := copies * settings.FirstRound(copies); first >= c.Steps {
			say("F stays 0: %s first learns after %s steps (%s.history)", name, knob.FormatCount(first), name)
			break
		}
	}
	return texts
}

// Given says whether there is a bonus.
func (b Bonus) Given() bool { return b.Function != "" && b.Function != FunctionNone }

// Generator is the part of the generator that is fixed for a run; the fields of
// generative.Config are keys of the same table.
type Generator struct {
	Kind   string `toml:"kind"`   // one of package generative, or "none" for methods on real data only
	Slice  int    `toml:"slice"`  // gradient steps in a slice of a fit, which set how long a command may have to wait; 0: one
	Retain int    `toml:"retain"` // generations that D_syn holds, the newest; 0: one
	Roll   int    `toml:"roll"`   // env steps from one chunk of a D_syn that is made again to the next, see Config.Roll; 0: it comes into force as a whole

	generative.Config
	// Kinds are the settings of each kind, in a document the table generator.KIND.
	Kinds generative.Kinds      `toml:"-"`
	Head  generative.HeadConfig `toml:"head"` // for any kind
}

// Generations is how many generations D_syn holds.
func (g Generator) Generations() int { return max(1, g.Retain) }

// Repeats says whether the generator learns nothing itself: it repeats real transitions.
func (c *Config) Repeats() bool {
	kind, err := generative.Find(c.Generator.Kind)
	return c.Generates() && err == nil && !kind.Learns
}

// RollsOutPolicy says whether rows of D_syn have actions of the policy as it was when they were made.
func (c *Config) RollsOutPolicy() bool {
	return c.Has()&knob.UseRollouts != 0 || c.Generator.Actions == generative.ActionsPolicy
}

// TrueOutcomes says whether rows of D_syn have the outcomes that the task itself gives.
func (c *Config) TrueOutcomes() bool {
	return c.Generates() && c.Generator.Outcomes == generative.OutcomesSimulator
}
