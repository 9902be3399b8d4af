package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgrlab/presets"
)

// NoArgs refuses all arguments; for one that looks like a subcommand it suggests the nearest.
func NoArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if len(subcommands(c)) > 0 {
		return unknownCommand(c, args[0])
	}
	return Usagef("%sunexpected argument %q: see %s --help", PrefixOf(c), args[0], c.CommandPath())
}

// ExactArgs requires n arguments; what names them in the error.
func ExactArgs(n int, what string) cobra.PositionalArgs { return RangeArgs(n, n, what) }

// RangeArgs requires from atLeast to atMost arguments; what names them in the error.
func RangeArgs(atLeast, atMost int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) >= atLeast && len(args) <= atMost {
			return nil
		}
		return Usagef("%sneeds %s: see %s --help", PrefixOf(c), what, c.CommandPath())
	}
}

// NeedsSubcommand is the body of a command that does nothing without a subcommand.
func NeedsSubcommand(c *cobra.Command, _ []string) error {
	return Usagef("%sneeds one of %s: see %s --help", PrefixOf(c), strings.Join(subcommands(c), ", "), c.CommandPath())
}

// PrefixOf is the prefix of an error about a command: "sweep job: "; empty for the program itself,
// whose name precedes every error.
func PrefixOf(c *cobra.Command) string {
	_, name, sub := strings.Cut(c.CommandPath(), " ")
	if !sub {
		return ""
	}
	return name + ": "
}

// wants says for a type of flag which value it takes, in place of the messages of Go's parsers.
var wants = map[string]string{
	"uint64":       "want a whole number from 0",
	"int":          "want a whole number",
	"float64":      "want a number",
	"float64Slice": "want a number, or several as 0.1,0.2",
	"duration":     "want a time, for example 30s, 5m or 2h",
	"bool":         "want true or false, or no value",
}

// FlagError describes an error in a flag in one line.
func FlagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var bare *pflag.ValueRequiredError
	help := c.CommandPath() + " --help"
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		name := unknown.GetSpecifiedName()
		if answer := foreignFlag(c.Flags(), name); answer != "" {
			return Usagef("%sunknown flag %q: %s (%s)", PrefixOf(c), name, answer, help)
		}
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		return Usagef("%s%w", PrefixOf(c), presets.Unknown("flag", name, names, help))
	case errors.As(err, &invalid):
		f, value := invalid.GetFlag(), invalid.GetValue()
		if strings.TrimSpace(value) == "" {
			return emptyFlag(c, f)
		}
		why, known := wants[f.Value.Type()]
		if !known {
			why = invalid.Unwrap().Error()
		}
		return Usagef("%s--%s %s: %s", PrefixOf(c), f.Name, value, why)
	case errors.As(err, &bare):
		name, _ := pflag.UnquoteUsage(bare.GetFlag())
		return Usagef("%s--%s needs a value: --%s %s: see %s", PrefixOf(c), bare.GetFlag().Name, bare.GetFlag().Name, name, help)
	}
	return Usagef("%s%s: see %s", PrefixOf(c), err, help)
}

func emptyFlag(c *cobra.Command, f *pflag.Flag) error {
	name, _ := pflag.UnquoteUsage(f)
	return Usagef("%s--%s is empty: give --%s %s, or leave it out", PrefixOf(c), f.Name, f.Name, name)
}

// RefuseEmpty refuses flags and arguments without a value: they come from unset variables, and
// would begin a run that was not intended.
func RefuseEmpty(c *cobra.Command, args []string) error {
	if completing(c) {
		return nil
	}
	var empty *pflag.Flag
	c.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, is := f.Value.(pflag.SliceValue); is {
			if values = list.GetSlice(); len(values) == 0 {
				values = []string{""}
			}
		}
		for _, v := range values {
			if strings.TrimSpace(v) == "" && empty == nil {
				empty = f
			}
		}
	})
	if empty != nil {
		return emptyFlag(c, empty)
	}
	for i, arg := range args {
		if strings.TrimSpace(arg) == "" {
			return Usagef("%sargument %d is empty: give it a value: see %s --help", PrefixOf(c), i+1, c.CommandPath())
		}
	}
	return nil
}

// completing says whether a command asks for completions; its arguments are then an unfinished
// line.
func completing(c *cobra.Command) bool {
	return c.Name() == cobra.ShellCompRequestCmd || c.Name() == cobra.ShellCompNoDescRequestCmd
}
