package command

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pgrlab/tui/command/cli"
)

func manCommand(d cli.Deps) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "write manual pages, one for each command",
		Long: `Writes a manual page for each command into a folder, as pgrlab.1, pgrlab-train.1 and so
on, and replaces existing pages. man finds the pages in a folder man1 on its path.`,
		Example: `  pgrlab man ~/.local/share/man/man1 && man pgrlab-train
  pgrlab man /tmp/man && man -l /tmp/man/pgrlab.1`,
		Args: cli.ExactArgs(1, "the folder to write to"),
		RunE: func(c *cobra.Command, args []string) error {
			dir := args[0]
			if err := cli.MakeFolder(dir, "manual pages"); err != nil {
				return fmt.Errorf("man: %w", err)
			}
			n := 0
			for _, page := range manPages(c.Root()) {
				err := cli.WriteFile(filepath.Join(dir, pageName(page)+".1"), func(w io.Writer) error { return writeMan(w, d, page) })
				if err != nil {
					return fmt.Errorf("man: %w", err)
				}
				n++
			}
			fmt.Fprintf(c.ErrOrStderr(), "%d pages in %s: man -l %s\n", n, dir, filepath.Join(dir, "pgrlab.1"))
			return nil
		},
	}
}

// manPages are the commands that have a manual page.
func manPages(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			all = append(all, manPages(sub)...)
		}
	}
	return all
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// writeMan writes the manual page of a command: the text of its help in the form of man(7).
func writeMan(out io.Writer, d cli.Deps, c *cobra.Command) error {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	w := &roff{}
	name := pageName(c)
	fmt.Fprintf(w, ".TH %s 1 \"\" \"pgrlab %s\" \"pgrlab\"\n", strings.ToUpper(escape(name)), escape(d.Version))
	w.section("NAME")
	w.text(name + " - " + c.Short)
	w.section("SYNOPSIS")
	fmt.Fprintf(w, ".B %s\n", escape(c.UseLine()))
	w.section("DESCRIPTION")
	if c.Long != "" {
		w.paragraphs(c.Long)
	} else {
		w.text(strings.ToUpper(c.Short[:1]) + c.Short[1:] + ".")
	}
	if c.HasAvailableSubCommands() {
		w.section("COMMANDS")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				w.item(pageName(sub)+"(1)", sub.Short)
			}
		}
	}
	if sections := cli.FlagSections(c); len(sections) > 0 {
		w.section("OPTIONS")
		for _, s := range sections {
			if len(sections) > 1 {
				fmt.Fprintf(w, ".SS %s\n", escape(s.Title))
			}
			for _, f := range s.Flags {
				w.item(strings.TrimSpace(f.Name), f.Text)
			}
		}
	}
	if c.Example != "" {
		w.section("EXAMPLES")
		w.literal(strings.Split(c.Example, "\n"))
	}
	if !c.HasParent() {
		for _, s := range []struct {
			title string
			items []cli.FlagText
		}{{"ENVIRONMENT", cli.Variables}, {"EXIT STATUS", cli.ExitStatuses}} {
			w.section(s.title)
			for _, i := range s.items {
				w.item(i.Name, i.Text)
			}
		}
	} else {
		w.section("SEE ALSO")
		w.text(pageName(c.Parent()) + "(1)")
	}
	_, err := out.Write(w.Bytes())
	return err
}

// roff is a manual page being written.
type roff struct{ bytes.Buffer }

func (w *roff) section(title string) { fmt.Fprintf(w, ".SH %s\n", title) }

func (w *roff) text(line string) { fmt.Fprintf(w, "%s\n", escape(line)) }

func (w *roff) item(name, text string) {
	fmt.Fprintf(w, ".TP\n.B %s\n%s\n", escape(name), escape(text))
}

// literal writes lines unchanged, without their common indentation.
func (w *roff) literal(lines []string) {
	fmt.Fprint(w, ".PP\n.nf\n.RS\n")
	for _, l := range lines {
		w.text(strings.TrimPrefix(l, "  "))
	}
	fmt.Fprint(w, ".RE\n.fi\n")
}

// paragraphs writes a long text; indented lines stay unchanged.
func (w *roff) paragraphs(long string) {
	var kept []string
	flush := func() {
		if len(kept) > 0 {
			w.literal(kept)
			kept = nil
		}
	}
	fresh := true
	for line := range strings.SplitSeq(long, "\n") {
		switch {
		case strings.HasPrefix(line, "  "):
			kept = append(kept, line)
			continue
		case line == "":
			flush()
			fresh = true
			continue
		case fresh || len(kept) > 0:
			flush()
			fmt.Fprint(w, ".PP\n")
			fresh = false
		}
		w.text(line)
	}
	flush()
}

// escape writes text so that a formatter shows it unchanged: hyphens that can be copied, non-ASCII
// letters by their numbers, no line that looks like a request.
func escape(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case (r == '.' || r == '\'') && i == 0:
			b.WriteString(`\&` + string(r))
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r > 126:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
