package command

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func versionCommand(d Deps) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(c.OutOrStdout(), "pgrlab %s %s %s/%s\n", d.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
