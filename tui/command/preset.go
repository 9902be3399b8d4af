package command

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"pgrlab/core/task"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/runflags"
)

func presetCommand(d cli.Deps) *cobra.Command {
	c := &cobra.Command{
		Use:   "preset",
		Short: "show the numbers that a run is made from",
		RunE:  cli.NeedsSubcommand,
	}
	var choice presets.Choice
	var set []string
	show := &cobra.Command{
		Use:   "show [NAME|FILE]",
		Short: "print a resolved preset as TOML, to copy and edit",
		Long: `Prints every number of a preset, or of a task, method and scale, with its source. The
output is a preset file: edit a copy and pass it with --preset FILE. A file need not be
complete; what it leaves out comes from its task, method and scale.`,
		Example: `  pgrlab preset show demo > mine.toml
  pgrlab preset show --task cheetah-run --method pgr-curiosity --scale release
  pgrlab preset show demo --set generator.width=512 > wide.toml
  pgrlab --preset mine.toml`,
		Args: cli.RangeArgs(0, 1, "at most one preset"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				choice.Preset = args[0]
			}
			named := ""
			if choice.Task != "" && !d.Simulates(choice.Task) {
				task, err := d.Task(choice.Task)
				if err != nil {
					return err
				}
				named, choice.Task = choice.Task, task.Name
			}
			assigned, err := runflags.Assignments(set)
			if err != nil {
				return cli.AsUsage(err)
			}
			doc, err := presets.Show(choice, assigned...)
			if err == nil {
				err = valid(d, choice.Preset, named, doc)
			}
			if err != nil {
				return cli.AsUsage(err)
			}
			_, err = c.OutOrStdout().Write(doc)
			return err
		},
	}
	f := show.Flags()
	f.SortFlags = false
	f.StringVar(&choice.Task, "task", "", "`T` task (pgrlab list tasks)")
	f.StringVar(&choice.Method, "method", "", "`M` method (pgrlab list methods)")
	f.StringVar(&choice.Scale, "scale", "", "`S` scale (pgrlab list scales)")
	f.StringVar(&choice.Observation, "observation", "", "`state|pixels` what the agent observes of the task (default: what the method takes)")
	f.StringArrayVar(&set, "set", nil, "`KEY=VALUE` another value of a key, such as generator.width=512, or of a knob; repeatable")
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			switch flags := d.FlagsOf(args[0]); {
			case len(flags) > 0 && flags[0] == "preset":
				return cli.Usagef("preset: want pgrlab preset show %s", args[0])
			case len(flags) > 0 && show.Flags().Lookup(flags[0]) != nil:
				return cli.Usagef("preset: want pgrlab preset show --%s %s", flags[0], args[0])
			}
		}
		return cli.NoArgs(c, args)
	}
	c.AddCommand(show)
	return c
}

// valid returns an error if a value of a configuration is none that a run can have. The task is what was
// typed; without, the preset names it. Whether its task and
// method go together is left to the run, because only one of them may have been chosen yet.
func valid(d cli.Deps, preset, typed string, doc []byte) error {
	c, err := presets.Decode("preset", doc)
	if err != nil {
		return err
	}
	t, here := task.Task{}, !d.Simulates(c.Task)
	switch {
	case here && typed != "":
		t, err = d.Task(typed)
	case here:
		t, err = d.TaskIn(filepath.Dir(preset), c.Task, c.Environment)
	}
	if err == nil {
		err = c.Validate()
	}
	if err == nil && here {
		err = c.ValidateFormulas(t)
	}
	if err == nil {
		err = c.ValidateSettings()
	}
	return err
}
