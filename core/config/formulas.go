package config

import (
	"fmt"
	"maps"
	"slices"

	"pgrlab/core/knob"
	"pgrlab/core/relevance"
)

// Formula is a formula with a name, which the knob relevance takes as well as the formula itself.
type Formula struct {
	Formula string `toml:"formula"`
	Doc     string `toml:"doc,omitempty"` // one line
}

// FormulaNames are the names of the run's formulas, in the order of the alphabet.
func (c *Config) FormulaNames() []string { return slices.Sorted(maps.Keys(c.Formulas)) }

// Written is the value that text stands for as a value of a knob: of a formula's name the formula.
// Journals, checkpoints and results have the formula.
func (c *Config) Written(knobName, text string) string {
	if f, is := c.Formulas[text]; is && knobName == "relevance" {
		if canonical, err := relevance.Canonical(relevance.FormulaMark + f.Formula); err == nil {
			return canonical
		}
	}
	return text
}

// NameFormulas puts formulas in the place of their names, in the knob and in the schedule.
func (c *Config) NameFormulas() error {
	if err := c.validateFormulas(); err != nil {
		return err
	}
	c.Knobs.Relevance = c.Written("relevance", c.Knobs.Relevance)
	if canonical, err := relevance.Canonical(c.Knobs.Relevance); err == nil { // Validate has the error
		c.Knobs.Relevance = canonical
	}
	if c.Bonus.Given() {
		c.Bonus.Function = c.Written("relevance", c.Bonus.Function)
	}
	c.Schedule = slices.Clone(c.Schedule)
	for i, text := range c.Schedule {
		if s, err := knob.ParseScheduled(text); err == nil && s.Knob == "relevance" {
			s.Value = c.Written(s.Knob, s.Value)
			c.Schedule[i] = s.String()
		}
	}
	return nil
}

// validateFormulas says which formula with a name is wrong.
func (c *Config) validateFormulas() error {
	for _, name := range c.FormulaNames() {
		if slices.Contains(relevance.Names(), name) {
			return fmt.Errorf("[relevance.%s]: a function of the program has that name: give the formula another one", name)
		}
		if _, err := relevance.Canonical(relevance.FormulaMark + c.Formulas[name].Formula); err != nil {
			return fmt.Errorf("[relevance.%s]: %w", name, err)
		}
	}
	return nil
}
