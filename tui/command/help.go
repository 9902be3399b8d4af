package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// group is a flag's annotation: the heading it stands under in --help.
const group = "group"

// Headings of the flags of a run, in the order shown.
var groups = []string{"What to run", "How to run it", "Where to keep it"}

func setGroup(f *pflag.FlagSet, heading string, names ...string) {
	for _, name := range names {
		if err := f.SetAnnotation(name, group, []string{heading}); err != nil {
			panic(err) // a name that is not a flag: a slip in this package
		}
	}
}

// usage writes the part of --help below the long text.
func usage(c *cobra.Command) error {
	w := c.OutOrStderr()
	fmt.Fprintf(w, "Usage:\n  %s\n", c.UseLine())
	if c.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintln(w, "\nCommands:")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-*s  %s\n", c.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	for _, heading := range groups {
		writeFlags(w, heading, c.LocalFlags(), heading)
	}
	heading := "Flags"
	if c.LocalFlags().Lookup("preset") != nil {
		heading = "Other flags"
	}
	writeFlags(w, heading, c.LocalFlags(), "")
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n%s COMMAND --help says more about a command.\n", c.CommandPath())
	}
	return nil
}

// writeFlags writes the flags that carry the heading; "" means none.
func writeFlags(w io.Writer, title string, all *pflag.FlagSet, heading string) {
	some := pflag.NewFlagSet("", pflag.ContinueOnError)
	some.SortFlags = false
	all.SortFlags = false
	all.VisitAll(func(f *pflag.Flag) {
		if strings.Join(f.Annotations[group], "") == heading {
			some.AddFlag(f)
		}
	})
	if text := some.FlagUsages(); text != "" {
		fmt.Fprintf(w, "\n%s:\n%s", title, text)
	}
}
