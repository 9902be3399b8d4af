package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pgrlab/core/run"
	"pgrlab/presets"
)

// BareNames refuses arguments of a command that has flags for all it needs, as NoArgs does; if an argument is the
// value of a flag, it names that flag.
func (d Deps) BareNames(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	name := args[0]
	if flag := d.flagOf(c, name); flag != "" {
		return Usagef("%q belongs to a flag: %s --%s %s", name, c.CommandPath(), flag, name)
	}
	return NoArgs(c, args)
}

// flagOf is the flag of a command that a value was probably meant for; "": none.
func (d Deps) flagOf(c *cobra.Command, value string) string {
	for _, flag := range d.FlagsOf(value) {
		if c.Flags().Lookup(flag) != nil {
			return flag
		}
	}
	return ""
}

// FlagsOf are the flags that take such a value.
func (d Deps) FlagsOf(value string) []string {
	if strings.HasSuffix(value, ".toml") {
		return []string{"preset"}
	}
	for _, axis := range []struct {
		flag    string
		entries []presets.Entry
	}{{"preset", presets.Presets()}, {"method", presets.Methods()}, {"scale", presets.Scales()}} {
		for _, e := range axis.entries {
			if e.Name == value {
				return []string{axis.flag}
			}
		}
	}
	if _, err := d.Task(value); err == nil || d.Simulates(value) {
		return []string{"task"}
	}
	if _, err := os.Stat(filepath.Join(value, run.JournalName)); err == nil || value == "latest" {
		return []string{"resume", "policy"}
	}
	return nil
}
