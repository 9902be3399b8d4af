package command

import (
	"bufio"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"pgrlab/core/run"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
)

func journalCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "journal",
		Short: "compare and canonicalise journals",
		Long: `A journal (events.jsonl of a run) holds what was computed, and what was observed on the
way: times, pauses, paths. Two runs are the same if their journals, without the observed
part, are equal byte for byte.`,
		Args: cli.NoArgs,
		RunE: cli.NeedsSubcommand,
	}
	c.AddCommand(&cobra.Command{
		Use:     "canonical DIR|FILE",
		Short:   "print the deterministic part of a journal",
		Example: "  pgrlab journal canonical runs/a | sha256sum",
		Args:    cli.ExactArgs(1, "one run folder or journal"),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := rundir.OpenJournal(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			out := bufio.NewWriter(c.OutOrStdout())
			if err := run.Canonical(f, out); err != nil {
				return fmt.Errorf("canonical form of %s: %w", args[0], err)
			}
			return out.Flush()
		},
	}, &cobra.Command{
		Use:   "diff A B",
		Short: "print the first difference between two journals (status 1 if there is one)",
		Long: `Compares the deterministic parts of two journals. Prints nothing and returns 0
when they are the same; otherwise prints the first differing line of each and
returns 1, or 2 if one cannot be read. The line number counts canonical lines.`,
		Example: "  pgrlab journal diff runs/a runs/b",
		Args:    cli.ExactArgs(2, "two run folders or journals"),
		RunE: func(c *cobra.Command, args []string) error {
			err := diffJournals(c.OutOrStdout(), args[0], args[1])
			if err == (errDiffer{}) {
				return err
			}
			return cli.AsUsage(err) // status 1 says that they differ
		},
	})
	return c
}

// errDiffer gives diff status 1 without a further line on stderr.
type errDiffer struct{}

func (errDiffer) Error() string { return "journals differ" }

func diffJournals(w io.Writer, a, b string) error {
	fa, err := rundir.OpenJournal(a)
	if err != nil {
		return err
	}
	defer fa.Close()
	fb, err := rundir.OpenJournal(b)
	if err != nil {
		return err
	}
	defer fb.Close()
	n, la, lb, same, err := run.Diff(fa, fb)
	if err != nil {
		return fmt.Errorf("compare %s with %s: %w", a, b, err)
	}
	if same {
		return nil
	}
	fmt.Fprintf(w, "line %d\n< %s\n> %s\n", n, orNone(la), orNone(lb))
	return errDiffer{}
}

func orNone(s string) string {
	if s == "" {
		return "(no more lines)"
	}
	return s
}
