package command

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgrlab/presets"
)

// prefixOf begins an error about a command: "sweep job: "; nothing for the program
// itself, whose name stands before every error.
func prefixOf(c *cobra.Command) string {
	_, name, sub := strings.Cut(c.CommandPath(), " ")
	if !sub {
		return ""
	}
	return name + ": "
}

// wants say what a flag of a type takes, in place of the words of Go's parsers.
var wants = map[string]string{
	"uint64":       "want a whole number from 0",
	"int":          "want a whole number",
	"float64":      "want a number",
	"float64Slice": "want a number, or several as 0.1,0.2",
	"duration":     "want a time, for example 30s, 5m or 2h",
	"bool":         "want true or false, or no value",
}

// flagError is what is wrong with a flag, in a line.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var bare *pflag.ValueRequiredError
	help := c.CommandPath() + " --help"
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		return usagef("%s%w", prefixOf(c), presets.Unknown("flag", unknown.GetSpecifiedName(), names, help))
	case errors.As(err, &invalid):
		f, value := invalid.GetFlag(), invalid.GetValue()
		if strings.TrimSpace(value) == "" {
			return emptyFlag(c, f)
		}
		why, known := wants[f.Value.Type()]
		if !known {
			why = invalid.Unwrap().Error()
		}
		return usagef("%s--%s %s: %s", prefixOf(c), f.Name, value, why)
	case errors.As(err, &bare):
		name, _ := pflag.UnquoteUsage(bare.GetFlag())
		return usagef("%s--%s needs a value: --%s %s: see %s", prefixOf(c), bare.GetFlag().Name, bare.GetFlag().Name, name, help)
	}
	return usagef("%s%s: see %s", prefixOf(c), err, help)
}

func emptyFlag(c *cobra.Command, f *pflag.Flag) error {
	name, _ := pflag.UnquoteUsage(f)
	return usagef("%s--%s is empty: give --%s %s, or leave it out", prefixOf(c), f.Name, f.Name, name)
}

// refuseEmpty refuses flags and arguments without a value: they come from variables
// that are not set, and a run that was not meant would begin.
func refuseEmpty(c *cobra.Command, args []string) error {
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
			return usagef("%sargument %d is empty: give it a value: see %s --help", prefixOf(c), i+1, c.CommandPath())
		}
	}
	return nil
}
