package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pgrlab/core/run"
	"pgrlab/presets"
)

// BareNames refuses arguments of a command that begins runs, as NoArgs does; if an argument is the
// value of a flag, it names that flag.
func (d Deps) BareNames(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	name := args[0]
	if flag := d.flagOf(name); flag != "" {
		return Usagef("%q belongs to a flag: %s --%s %s", name, c.CommandPath(), flag, name)
	}
	return NoArgs(c, args)
}

// flagOf is the flag that a value was probably meant for; "": none.
func (d Deps) flagOf(value string) string {
	if strings.HasSuffix(value, ".toml") {
		return "preset"
	}
	for _, axis := range []struct {
		flag    string
		entries []presets.Entry
	}{{"preset", presets.Presets()}, {"method", presets.Methods()}, {"scale", presets.Scales()}} {
		for _, e := range axis.entries {
			if e.Name == value {
				return axis.flag
			}
		}
	}
	if _, err := d.Task(value); err == nil {
		return "task"
	}
	if _, err := os.Stat(filepath.Join(value, run.JournalName)); err == nil {
		return "resume"
	}
	return ""
}
