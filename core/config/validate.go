package config

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pgrlab/core/agent"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/task"
)

// Validate returns a one-line error that says what is wrong with c, or nil. It leaves the
// settings of single parts to ValidateSettings.
func (c *Config) Validate() error {
	if err := c.validateLearner(); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	if c.Agent.Subset > c.Agent.Critics {
		return fmt.Errorf("configuration: agent.subset is %d of %d critics", c.Agent.Subset, c.Agent.Critics)
	}
	if g := c.Agent.Gamma; !(g >= 0 && g < 1) {
		return fmt.Errorf("configuration: agent.gamma is %g, want a number from 0 to below 1", g)
	}
	if _, err := c.Evaluation.Mode(); err != nil {
		return err
	}
	if c.Generates() {
		kind, err := generative.Find(c.Generator.Kind)
		if err == nil && kind.Check != nil {
			err = kind.Check(c.Generator.Config)
		}
		if err == nil && c.Generator.NoiseShare > 0 && c.Generator.NoiseStd == 0 {
			err = fmt.Errorf("generator.noise_share is %g, but generator.noise_std is 0, which is no noise: want a size, as 0.2, or noise_share 0", c.Generator.NoiseShare)
		}
		if err == nil && c.Generator.NoiseShare > 0 && !kind.Learns {
			err = fmt.Errorf("generator.noise_share is %g, but %s learns nothing that noise could disturb: want 0", c.Generator.NoiseShare, kind.Kind)
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
	if _, err := c.planned(); err != nil {
		return err
	}
	return c.validateNumbers()
}

// validateParts says what is wrong with the combination of parts.
func (c *Config) validateParts() error {
	switch {
	case c.Replay.Prioritized() && c.Generates():
		return fmt.Errorf("configuration: replay.priority is %q with synthetic transitions, which have no priorities: want replay.priority %q, or generator.kind %q", c.Replay.Priority, FunctionNone, GeneratorNone)
	case !c.Generates() && c.Generator.Conditional:
		return fmt.Errorf("configuration: generator.conditional is true, but generator.kind is %q: want conditional false, or kind %q", GeneratorNone, generative.Specs()[0].Kind)
	case !c.Generates() && c.Knobs.Ratio != 0:
		return fmt.Errorf("configuration: ratio is %g, but method %s has no generator that would make synthetic transitions: want 0, or a method with one, as %s", c.Knobs.Ratio, c.Method, MethodSynthER)
	case !c.Prompted() && c.Knobs.Relevance != relevance.None:
		return fmt.Errorf("configuration: relevance is %q, but method %s has no conditional generator: want %q, or a method pgr-…", c.Knobs.Relevance, c.Method, relevance.None)
	case c.Repeats() && c.Generator.Vector == generative.VectorPair:
		return fmt.Errorf("configuration: generator.kind %q repeats whole transitions, but generator.vector is %q: want generator.head.kind %q and generator.vector %q%s", c.Generator.Kind, c.Generator.Vector, generative.HeadNone, generative.VectorTransition, c.insteadOfKind(", or method %s"))
	case c.Has()&knob.UseRollouts != 0 && (c.Generator.Head.Enabled() || c.Generator.Vector == generative.VectorPair):
		return fmt.Errorf("configuration: generator.kind %q predicts s' and r itself, but generator.head.kind is %q and generator.vector %q: want generator.head.kind %q and generator.vector %q", c.Generator.Kind, c.Generator.Head.Kind, c.Generator.Vector, generative.HeadNone, generative.VectorTransition)
	case c.Generator.Vector == generative.VectorPair && c.Generator.Head.Kind != generative.HeadTransition:
		return fmt.Errorf("configuration: generator.vector is %q, but generator.head.kind %q predicts no s' from it: want head.kind %q, or vector %q", generative.VectorPair, c.Generator.Head.Kind, generative.HeadTransition, generative.VectorTransition)
	}
	if err := c.validateRelabels(); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	for _, name := range relevance.NamesOf(relevance.LearnsInSteps) {
		if every := c.Relevance.Pace(name).Every; every < 0 {
			of := "env steps" // of a learner that is not given batches
			if learner, _ := c.Agent.Spec(); learner.Batches {
				of = "critic updates"
			}
			return fmt.Errorf("configuration: %s.every is %d, want %s between updates of the model, or 0 for one update per env step", name, every, of)
		}
	}
	if err := c.Replay.validate(); err != nil {
		return err
	}
	if err := c.Bonus.validate(); err != nil {
		return err
	}
	for _, name := range append(c.FixedFunctions(), c.Knobs.Relevance) {
		if err := c.CanMeet(name); err != nil {
			return fmt.Errorf("configuration: %w", err)
		}
	}
	if err := c.Fits(&c.Knobs); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	return nil
}

// validateRelabels says whether the rows of the generator can get other actions or outcomes.
func (c *Config) validateRelabels() error {
	g := &c.Generator
	if !c.Generates() || !g.Relabels() {
		return nil
	}
	asked := fmt.Sprintf("generator.actions %q", g.Actions)
	if g.Actions != generative.ActionsPolicy {
		asked = fmt.Sprintf("generator.outcomes %q", g.Outcomes)
	}
	switch {
	case c.Has()&knob.UseRollouts != 0:
		return fmt.Errorf("%s: rows of generator.kind %q are steps of a policy in a model already: want actions %q and outcomes %q", asked, g.Kind, generative.ActionsData, generative.OutcomesModel)
	case c.Fills():
		return fmt.Errorf("%s: learner %s learns from rows of its own making, which are no states of the task: want actions %q and outcomes %q", asked, c.Agent.Learner, generative.ActionsData, generative.OutcomesModel)
	case g.Actions == generative.ActionsPolicy && c.Dreams():
		return fmt.Errorf("%s: there is no agent: want actions %q", asked, generative.ActionsData)
	case g.Actions == generative.ActionsPolicy && g.Outcomes != generative.OutcomesSimulator && g.Head.Kind != generative.HeadTransition:
		return fmt.Errorf("%s: nothing gives the outcome of another action: want generator.head.kind %q, or outcomes %q", asked, generative.HeadTransition, generative.OutcomesSimulator)
	}
	return nil
}

// validateLearner says what is wrong with the choice of the learner, or with its combination
// with other parts.
func (c *Config) validateLearner() error {
	s, err := c.Agent.Spec()
	if err != nil {
		return err
	}
	if own := c.Agent.Own.Of(s); own != nil {
		if err := own.Validate(); err != nil {
			return err
		}
	}
	if err := c.validateObservation(s); err != nil {
		return err
	}
	switch {
	case !s.Synthetic && c.Generates():
		return fmt.Errorf("generator.kind is %q, but learner %s learns from real transitions only: want kind %q", c.Generator.Kind, s.Name, GeneratorNone)
	case s.Idle && !c.Generates():
		return fmt.Errorf("learner %s makes no env steps, and method %s has no generator: there is nothing to do: want a method with a generator, as %s", s.Name, c.Method, MethodSynthER)
	case s.Idle && c.Has()&knob.UseRollouts != 0:
		return fmt.Errorf("generator.kind %q rolls out an agent's policy, and learner %s has none: want another method with a generator, as pgr-curiosity", c.Generator.Kind, s.Name)
	case s.Explores && !c.Prompted():
		return fmt.Errorf("learner %s explores for F of generated rows, and method %s has none: want a generator with generator.conditional true, as method %s has", s.Name, c.Method, MethodMAX)
	case s.Explores && c.Data.Pinned():
		return fmt.Errorf("data.mode is %q, but learner %s has an agent of its own that explores, which learns from generated rows alone: want data.mode %q", DataPinned, s.Name, DataSeed)
	case s.Explores && c.Bonus.Given():
		return fmt.Errorf("bonus.function is %q, but learner %s has an agent of its own that explores: want %q", c.Bonus.Function, s.Name, FunctionNone)
	case !s.Batches && c.Replay.Prioritized():
		return fmt.Errorf("replay.priority is %q, but learner %s makes no updates on batches of transitions: want %q", c.Replay.Priority, s.Name, FunctionNone)
	case c.Fills() && c.Generator.Generations() > 1:
		return fmt.Errorf("generator.retain is %d, but learner %s makes D_real again with latents of its present encoder, and earlier generations are of older ones: want 1", c.Generator.Retain, s.Name)
	case c.Fills() && c.Replay.Prioritized():
		return fmt.Errorf("replay.priority is %q, but learner %s fills D_real with rows of its own, which have none: want %q", c.Replay.Priority, s.Name, FunctionNone)
	}
	if err := c.validateBonus(s); err != nil {
		return err
	}
	if err := c.validateData(s); err != nil {
		return err
	}
	if icm := c.Relevance.Of("curiosity"); relevance.Looks(icm, c.Sight()) && slices.Contains(c.Functions(), "curiosity") && !s.Discrete {
		return fmt.Errorf("curiosity.on is %q, which is of actions to choose from, and learner %s acts with numbers: want %q", icm.(relevance.ICMConfig).On, s.Name, relevance.OnLatents)
	}
	return nil
}

// validateBonus says whether the run has what the bonus is computed from.
func (c *Config) validateBonus(s agent.Spec) error {
	b := c.Bonus.Function
	switch {
	case !c.Bonus.Given():
		return nil
	case relevance.IsFormula(b) && (!s.Batches || c.Sees()):
		return fmt.Errorf("bonus.function is a formula, and learner %s is not given batches of states to compute it of: want the name of a function, or a method as %s", s.Name, MethodREDQ)
	case c.Fills() && s.Batches:
		return fmt.Errorf("bonus.function is %q, but learner %s fills D_real with rows of its own: want %q", b, s.Name, FunctionNone)
	case s.Takes == agent.TakesEither && c.Sees() && !relevance.Looks(c.Relevance.Of(b), c.Sight()):
		return fmt.Errorf("bonus.function is %q, but learner %s sees frames and that bonus would be of states: want \"rnd\" with rnd.on %q, \"curiosity\" with curiosity.on %q, \"eco\", %q, or environment.observation %q",
			b, s.Name, relevance.OnObservations, relevance.OnObservations, FunctionNone, task.ObservationState)
	case c.Fills() && !relevance.Observes(c.Relevance.Of(b), c.Sight()) && slices.Contains(relevance.NamesOf(relevance.LearnsInSteps), b):
		return fmt.Errorf("bonus.function is %q, but learner %s fills D_real with rows of its own, which come too late for a bonus: want %s.on %q, or %q", b, s.Name, b, relevance.OnObservations, FunctionNone)
	}
	return nil
}

// validateObservation says whether the learner can take what it is given.
func (c *Config) validateObservation(s agent.Spec) error {
	switch o := c.Environment.Observation; {
	case o != "" && o != task.ObservationState && o != task.ObservationPixels:
		return fmt.Errorf("environment.observation is %q, want %q or %q", o, task.ObservationState, task.ObservationPixels)
	case o == task.ObservationPixels && s.Takes == agent.TakesStates:
		var sighted []string
		for _, other := range agent.Specs() {
			if other.Takes != agent.TakesStates {
				sighted = append(sighted, other.Name)
			}
		}
		return fmt.Errorf("environment.observation is %q, but learner %s of method %s takes states: want %q, or a method with a learner that takes pixels: %s", o, s.Name, c.Method, task.ObservationState, strings.Join(sighted, ", "))
	case o == task.ObservationState && s.Takes == agent.TakesPixels:
		return fmt.Errorf("environment.observation is %q, but learner %s of method %s takes pixels: want %q, or another method", o, s.Name, c.Method, task.ObservationPixels)
	}
	if c.Sees() {
		return c.Pixels.Validate()
	}
	return nil
}

// CanPlay says whether the task offers the observations that the learner takes, and takes the
// actions that the learner chooses.
func (c *Config) CanPlay(t task.Task) error {
	if _, err := c.Agent.Spec(); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	if s, _ := c.Learner(t); s.Discrete != t.Discrete {
		does, needs := "acts with numbers", "chooses among actions"
		if s.Discrete {
			does, needs = needs, does
		}
		var can []string
		for _, other := range agent.Specs() {
			if other.Discrete == t.Discrete {
				can = append(can, other.Name)
			}
		}
		return fmt.Errorf("configuration: learner %s of method %s %s, and an agent in task %s %s: choose another task, or a method with another learner: %s", s.Name, c.Method, does, t.Name, needs, strings.Join(can, ", "))
	}
	if c.Sees() && !t.Seen {
		return fmt.Errorf("configuration: learner %s of method %s takes pixels, and task %s has no camera: choose another task, or a method that takes states", c.Agent.Learner, c.Method, t.Name)
	}
	return nil
}

// Fits says whether settings that are in range go together, with each other and with what is
// fixed.
func (c *Config) Fits(s *knob.Settings) error {
	if c.Generates() && s.Samples > c.Buffer {
		return fmt.Errorf("samples: %s do not fit: D_syn has room for %s transitions (buffer)", knob.FormatCount(s.Samples), knob.FormatCount(c.Buffer))
	}
	if err := s.CheckMix(); err != nil {
		return err
	}
	most, m := c.Traits(task.Task{}).MostSynthetic, c.Mix(s, math.MaxInt)
	if most > 0 && m.Synthetic > most*m.Real {
		return fmt.Errorf("ratio: %d synthetic rows to %d real ones: learner %s learns from at most %d for each row of its rollout: want at most %g",
			m.Synthetic, m.Real, c.Agent.Learner, most, float64(most)/float64(most+1))
	}
	return nil
}

// Played is how the run plays its task at its beginning.
func (c *Config) Played() task.Environment {
	e := c.Environment
	if tv := c.Knobs.Televised(); tv != knob.TVOff {
		e.TV = tv
	}
	return e
}

// CanMake says whether the parts of the run can be made for the task, as far as that is known
// before they are made. c must be valid.
func (c *Config) CanMake(t task.Task) error {
	if err := c.CanPlay(t); err != nil {
		return err
	}
	s, d := c.Learner(t)
	if err := c.Rows(t).Validate(); err != nil {
		return fmt.Errorf("learner %s: D_real: %w", s.Name, err)
	}
	is, err := s.Traits(d)
	if err != nil {
		return err
	}
	if c.TrueOutcomes() && t.Hidden != "" {
		return fmt.Errorf("configuration: generator.outcomes is %q, but the state does not follow from an observation of %s: %s: want %q, or another task", c.Generator.Outcomes, t.Name, t.Hidden, generative.OutcomesModel)
	}
	if is.NStep > t.EpisodeSteps && !t.Terminates { // before a true end a row may have fewer env steps
		return fmt.Errorf("configuration: agent.%s.n_step is %d, but an episode of task %s has %d env steps: want at most %[4]d, or a smaller environment.action_repeat", s.Name, is.NStep, t.Name, t.EpisodeSteps)
	}
	if err := c.ValidateFormulas(t); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	return c.ValidateSettings()
}

// ValidateFormulas says what is wrong with the formulas of F for the rows of a task, also those that are
// planned.
func (c *Config) ValidateFormulas(t task.Task) error {
	shape, names := c.Rows(t), t.Names
	if c.Fills() {
		names = nil // rows are of the learner's own
	}
	if err := relevance.Check(c.Knobs.Relevance, shape, names); err != nil {
		return fmt.Errorf("relevance: %w", err)
	}
	if err := relevance.Check(c.Bonus.Function, shape, names); err != nil {
		return fmt.Errorf("bonus.function: %w", err)
	}
	for _, text := range c.Schedule {
		s, err := knob.ParseScheduled(text)
		if err != nil || s.Knob != "relevance" {
			continue
		}
		k, _ := knob.Find(s.Knob)
		v, err := k.Parse(s.Value)
		if err == nil {
			err = relevance.Check(v.Text, shape, names)
		}
		if err != nil {
			return fmt.Errorf("schedule %q: %w", text, err)
		}
	}
	return nil
}

// ValidateSettings checks what Validate leaves out: the settings of the generator and of the
// relevance functions that the run may come to use.
func (c *Config) ValidateSettings() error {
	for _, name := range c.Functions() {
		if settings := c.Relevance.Of(name); settings != nil {
			if err := settings.Validate(); err != nil {
				return err
			}
		}
	}
	for _, name := range c.Used() { // others are refused when they are chosen
		if settings, can := c.Relevance.Of(name).(interface{ ValidateCopies(copies int) error }); can {
			if err := settings.ValidateCopies(c.Environment.InLockstep()); err != nil {
				return err
			}
		}
		if settings, can := c.Relevance.Of(name).(relevance.ConfigOfFrames); can {
			if err := settings.ValidateFrames(c.Sight()); err != nil {
				return err
			}
		}
	}
	if !c.Generates() {
		return nil
	}
	if err := c.Generator.Validate(); err != nil {
		return err
	}
	if own := c.Generator.Kinds.Of(c.Generator.Kind); own != nil {
		if err := own.Validate(); err != nil {
			return err
		}
	}
	return c.Generator.Head.Validate()
}
