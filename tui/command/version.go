package command

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"pgrlab/tui/command/cli"
)

func versionCommand(d cli.Deps) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if asJSON {
				return cli.WriteJSON(c.OutOrStdout(), struct {
					Version string `json:"version"`
					Go      string `json:"go"`
					OS      string `json:"os"`
					Arch    string `json:"arch"`
				}{d.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH})
			}
			_, err := fmt.Fprint(c.OutOrStdout(), versionLine(d))
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// versionLine is what version and --version print.
func versionLine(d cli.Deps) string {
	return fmt.Sprintf("pgrlab %s %s %s/%s\n", d.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
