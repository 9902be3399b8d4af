package command

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/licence"
)

func licencesCommand() *cobra.Command {
	var list, asJSON bool
	c := &cobra.Command{
		Use:   "licences",
		Short: "print the licences of everything inside this program",
		Long: `Prints the licences of this program and of everything inside it, with their notices:
Go's runtime, the linked modules, fonts, and MuJoCo with its libraries.`,
		Example: `  pgrlab licences | less
  pgrlab licences --list`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			parts, err := licence.Parts()
			if err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(c.OutOrStdout(), parts)
			}
			if !list {
				return writeLicences(c.OutOrStdout(), parts)
			}
			var rows [][]string
			for _, p := range parts {
				rows = append(rows, []string{p.Name, orDash(p.Version), p.Licence})
			}
			return cli.WriteTable(c.OutOrStdout(), []string{"PART", "VERSION", "LICENCE"}, rows)
		},
	}
	c.Flags().BoolVar(&list, "list", false, "print one line for each part: name, version, licence")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, including the texts")
	return c
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// writeLicences writes all texts, each below its name.
func writeLicences(out io.Writer, parts []licence.Part) error {
	w := bufio.NewWriter(out)
	for _, p := range parts {
		for _, t := range p.Texts {
			title := fmt.Sprintf("%s (%s)", p.Title(), t.File)
			fmt.Fprintf(w, "%s\n%s\n\n%s\n\n", title, strings.Repeat("=", len(title)), strings.TrimSpace(t.Text))
		}
	}
	return w.Flush()
}
