package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgrlab/core/knob"
	"pgrlab/core/spelling"
	"pgrlab/presets"
)

// foreign are flags of other programs for learning, and of other commands, each with what pgrlab has in their place.
var foreign = []struct {
	flags  []string
	needs  string // a flag of the commands that have it; "": none has
	answer string
}{
	{[]string{"wandb", "track", "track-wandb", "use-wandb", "logger", "log-dir", "logdir"}, "tensorboard", "--tensorboard DIR writes what TensorBoard reads, and wandb sync DIR uploads"},
	{[]string{"config", "config-file", "cfg", "yaml"}, "preset", "--preset FILE takes a file as pgrlab preset show prints it"},
	{[]string{"env", "env-id", "env-name", "environment", "gym"}, "task", "tasks are named with --task T, of pgrlab list tasks, or gym:ID for those of Gymnasium"},
	{[]string{"algo", "algorithm", "agent", "model"}, "method", "--method M, of pgrlab list methods"},
	{[]string{"total-timesteps", "timesteps", "num-steps", "max-steps", "num-env-steps"}, "steps", "--steps N"},
	{[]string{"action-repeat"}, "vary", "--set environment.action_repeat=N"},
	{[]string{"dataset", "offline"}, "data", "--data FILE begins with recorded transitions (pgrlab data check)"},
}

// foreignFlag says what a command has in place of another program's flag; "" if nothing is known.
func foreignFlag(f *pflag.FlagSet, name string) string {
	for _, other := range foreign {
		if slices.Contains(other.flags, name) && f.Lookup(other.needs) != nil {
			return other.answer
		}
	}
	if k, err := knob.Find(strings.ReplaceAll(name, "-", "_")); err == nil && f.Lookup("set") != nil {
		return "knobs are set by --set " + k.Name + "=VALUE"
	}
	return ""
}

// unknownCommand suggests the subcommands that name may stand for in other programs, or else the
// nearest ones.
func unknownCommand(c *cobra.Command, name string) error {
	var meant []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && slices.Contains(sub.SuggestFor, name) {
			meant = append(meant, sub.Name())
		}
	}
	if len(meant) > 0 {
		return Usagef("unknown command %q: did you mean %s? (%s --help)", name, spelling.Alternatives(meant), c.CommandPath())
	}
	return AsUsage(presets.Unknown("command", name, subcommands(c), c.CommandPath()+" --help"))
}
