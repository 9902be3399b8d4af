package command

import (
	"testing"

	"github.com/spf13/cobra"

	"pgrlab/tui/testing/commandtest"
)

// No command takes 0 threads for all of them.
func TestNoCommandTakesNoThreads(t *testing.T) {
	asked := 0
	var see func(c *cobra.Command)
	see = func(c *cobra.Command) {
		if f := c.Flags().Lookup("threads"); f != nil {
			asked++
			if err := f.Value.Set("0"); err == nil {
				t.Errorf("%s takes --threads 0", c.CommandPath())
			}
			if err := f.Value.Set("1"); err != nil {
				t.Errorf("%s: --threads 1: %v", c.CommandPath(), err)
			}
		}
		for _, sub := range c.Commands() {
			see(sub)
		}
	}
	see(newRoot(commandtest.Deps()))
	if asked < 6 {
		t.Errorf("only %d commands have --threads", asked)
	}
}
