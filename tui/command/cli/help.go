package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgrlab/tui/theme"
)

// group is a flag's annotation: the heading under which --help lists the flag.
const group = "group"

// The headings of the flags of a run.
const (
	WhatToRun   = "What to run"
	HowToRun    = "How to run it"
	OfPrograms  = "Environments of other programs"
	OfData      = "Recorded data"
	WhereToKeep = "Where to keep it"
)

// groups are the headings in the order in which they are shown.
var groups = []string{WhatToRun, HowToRun, OfData, OfPrograms, WhereToKeep}

// SetGroup puts flags under a heading of --help.
func SetGroup(f *pflag.FlagSet, heading string, names ...string) {
	for _, name := range names {
		if err := f.SetAnnotation(name, group, []string{heading}); err != nil {
			panic(err) // not the name of a flag: a mistake in this package
		}
	}
}

// HelpCommand gives the same help as --help: pgrlab help journal diff.
func HelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "show the help of a command",
		Example: `  pgrlab help train
  pgrlab help journal diff`,
		ValidArgsFunction: func(c *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			at, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var all []cobra.Completion
			for _, sub := range at.Commands() {
				if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), word) {
					all = append(all, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return all, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			at := c.Root()
			for _, name := range args {
				sub := subcommand(at, name)
				if sub == nil {
					return unknownCommand(at, name)
				}
				at = sub
			}
			at.InitDefaultHelpFlag() // to list it as well
			at.InitDefaultVersionFlag()
			at.SetOut(c.OutOrStdout())
			return at.Help()
		},
	}
}

// subcommand finds a command by name below another one; nil: there is none.
func subcommand(c *cobra.Command, name string) *cobra.Command {
	for _, sub := range c.Commands() {
		if sub.Name() == name {
			return sub
		}
	}
	return nil
}

// subcommands are the names of the commands below c that help shows.
func subcommands(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// Help writes --help of a command, as wide as a terminal allows. It replaces cobra's, which writes
// into a buffer first, where the terminal's width is not known.
func Help(c *cobra.Command) error {
	w := c.OutOrStdout()
	var text bytes.Buffer
	writeHelp(&text, c, widthOf(w))
	_, err := w.Write(text.Bytes())
	return err
}

func writeHelp(w io.Writer, c *cobra.Command, width int) {
	fmt.Fprintf(w, "%s\n\n", reflowed(strings.TrimSpace(cmp.Or(c.Long, c.Short)), width))
	writeUsage(w, c, width)
}

// Usage writes the part of --help below the long text.
func Usage(c *cobra.Command) error {
	w := c.OutOrStderr()
	writeUsage(w, c, widthOf(w))
	return nil
}

func writeUsage(w io.Writer, c *cobra.Command, width int) {
	fmt.Fprintf(w, "Usage:\n  %s\n", c.UseLine())
	if c.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		var s FlagSection
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				s.Flags = append(s.Flags, FlagText{"  " + sub.Name(), sub.Short})
			}
		}
		fmt.Fprintln(w, "\nCommands:")
		s.Write(w, width)
	}
	for _, s := range FlagSections(c) {
		fmt.Fprintf(w, "\n%s:\n", s.Title)
		s.Write(w, width)
	}
	if !c.HasParent() {
		fmt.Fprintln(w, "\nEnvironment:")
		s := FlagSection{Flags: make([]FlagText, len(Variables))}
		for i, v := range Variables {
			s.Flags[i] = FlagText{"  " + v.Name, v.Text}
		}
		s.Write(w, width)
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n%s COMMAND --help says more about a command.\n", c.CommandPath())
	}
}

// A FlagSection is a heading and the flags under it.
type FlagSection struct {
	Title string
	Flags []FlagText
}

// A FlagText is a flag as help shows it.
type FlagText struct{ Name, Text string }

// FlagSections are the flags of a command by their headings, including the flags that it inherits.
func FlagSections(c *cobra.Command) []FlagSection {
	rest := "Flags"
	if c.LocalFlags().Lookup("preset") != nil {
		rest = "Other flags"
	}
	sections := make([]FlagSection, len(groups)+1)
	for i, title := range append(append([]string(nil), groups...), rest) {
		sections[i].Title = title
	}
	add := func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		i := len(groups)
		for g, heading := range groups {
			if strings.Join(f.Annotations[group], "") == heading {
				i = g
			}
		}
		sections[i].Flags = append(sections[i].Flags, describe(f))
	}
	local := c.LocalFlags()
	local.SortFlags = false
	local.VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	var all []FlagSection
	for _, s := range sections {
		if len(s.Flags) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// describe is a flag with the name of its value, and what it does. It does not repeat a value's
// name with which the usage begins, in backquotes.
func describe(f *pflag.Flag) FlagText {
	value, text := pflag.UnquoteUsage(f)
	if strings.HasPrefix(f.Usage, "`") {
		_, text, _ = strings.Cut(f.Usage[1:], "` ")
	}
	switch f.DefValue {
	case "", "0", "false", "[]", "0s":
	default:
		if !strings.Contains(text, "(default") {
			text += fmt.Sprintf(" (default %s)", f.DefValue)
		}
	}
	name := "      --" + f.Name
	if f.Shorthand != "" {
		name = "  -" + f.Shorthand + ", --" + f.Name
	}
	if value != "" {
		name += " " + value
	}
	return FlagText{name, text}
}

// Write writes the flags in two columns, measured in terminal cells; lines longer than w cells are
// broken, with w = 0 none.
func (s FlagSection) Write(out io.Writer, w int) {
	column := 0
	for _, f := range s.Flags {
		column = max(column, ansi.StringWidth(f.Name)+3)
	}
	for _, f := range s.Flags {
		text := f.Text
		if w-column >= 30 {
			text = strings.Join(theme.Wrap(text, w-column), "\n"+strings.Repeat(" ", column))
		}
		fmt.Fprintf(out, "%s%s%s\n", f.Name, strings.Repeat(" ", column-ansi.StringWidth(f.Name)), text)
	}
}
