package command

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"pgrlab/core/run"
)

func journalCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "journal",
		Short: "compare and canonicalise journals",
		Long: `A journal (events.jsonl of a run) holds what was computed and what was observed
on the way: times, pauses, paths. Two runs are the same when their journals are
equal byte for byte after the observed part is dropped.`,
		Args: noArgs,
		RunE: needsSubcommand,
	}
	c.AddCommand(&cobra.Command{
		Use:     "canonical DIR|FILE",
		Short:   "print the deterministic part of a journal",
		Example: "  pgrlab journal canonical runs/a | sha256sum",
		Args:    exactArgs(1, "one run folder or journal"),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := openJournal(args[0])
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
		Short: "print the first difference of two journals (status 1 if there is one)",
		Long: `Compares the deterministic parts of two journals. Prints nothing and returns 0
when they are the same; otherwise prints the first differing line of each and
returns 1. The line number counts canonical lines.`,
		Example: "  pgrlab journal diff runs/a runs/b",
		Args:    exactArgs(2, "two run folders or journals"),
		RunE: func(c *cobra.Command, args []string) error {
			return diffJournals(c.OutOrStdout(), args[0], args[1])
		},
	})
	return c
}

// errDiffer makes diff's status 1 without a further line on stderr.
type errDiffer struct{}

func (errDiffer) Error() string { return "journals differ" }

func diffJournals(w io.Writer, a, b string) error {
	fa, err := openJournal(a)
	if err != nil {
		return err
	}
	defer fa.Close()
	fb, err := openJournal(b)
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

// openJournal opens a journal by its own path or by its run folder's.
func openJournal(path string) (io.ReadCloser, error) {
	path, err := find(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, usagef("read journal: %v: give a run folder or an events.jsonl", err)
	}
	var f io.ReadCloser
	if info.IsDir() {
		f, err = run.OpenFile(path, run.JournalName)
	} else {
		f, err = os.Open(path) // by its name, whatever it is
	}
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	return f, nil
}
