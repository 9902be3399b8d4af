package sweep

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pgrlab/core/shell"
	"pgrlab/core/sweep"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/machine"
)

// The folder of a sweep may come from someone else, and options of ssh and sbatch can run commands.
// So the words of the commands that a sweep calls come from this process and its flags; what the
// folder records of them is only compared or named, except for options of sbatch that do nothing
// but ask for resources.

// callFlags are the flags of commands about a sweep that exists.
type callFlags struct {
	ssh, sbatch []string
}

func (f *callFlags) addSSH(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.ssh, "ssh", nil, "`OPTION` for ssh, as the sweep was begun with, such as -oProxyJump=gate; repeatable")
}

func (f *callFlags) addSbatch(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.sbatch, "sbatch", nil, "`OPTION` for sbatch, in addition to those for resources that the jobs were submitted with; repeatable")
}

// check returns an error if an option is none.
func (f *callFlags) check() error {
	for _, o := range f.sbatch { // including those of a profile
		if !strings.HasPrefix(o, "-") {
			return cli.Usagef("sweep: --sbatch %s: want an option of sbatch in one word, as --time=4:00:00", o)
		}
	}
	for _, o := range f.ssh {
		if !strings.HasPrefix(o, "-") {
			return cli.Usagef("sweep: --ssh %s: want an option of ssh in one word, as -oProxyJump=gate", o)
		}
	}
	return nil
}

// again returns the options for sbatch or ssh: those that the sweep's folder records, if they are
// harmless, and then the given ones. Other recorded ones have to be given again.
func again(flag string, given, recorded []string, harmless func(string) bool) ([]string, error) {
	var kept, others []string
	for _, o := range recorded {
		named := func(other string) bool { return nameOf(other) == nameOf(o) }
		switch {
		case !harmless(o):
			others = append(others, "--"+flag+"="+shell.Value(o))
		case !slices.ContainsFunc(given, named):
			kept = append(kept, o)
		}
	}
	if len(given) == 0 && len(others) > 0 {
		return nil, cli.Usagef("it was begun with options that are not taken from its folder, because they might run commands: give them again if you know them: %s", strings.Join(others, " "))
	}
	return append(kept, given...), nil
}

// nameOf is an option without its value.
func nameOf(option string) string {
	name, _, _ := strings.Cut(option, "=")
	return name
}

// noneIs says of every option that it is not harmless.
func noneIs(string) bool { return false }

// checkWords returns an error if the recorded flags of workers and jobs are not some that this program
// records.
func checkWords(file string, words []string) error {
	for i := 0; i < len(words); i += 2 {
		value := ""
		if i+1 < len(words) {
			value = words[i+1]
		}
		var err error
		switch words[i] {
		case "--threads":
			_, err = strconv.ParseUint(value, 10, 16)
		case "--disk":
			_, err = cli.ParseSize(value)
		case "--device":
			err = machine.DeviceFlag(value)
		default:
			return cli.Usagef("%s: %q is no flag that a sweep records: start the sweep again", file, words[i])
		}
		if err != nil {
			return cli.Usagef("%s: %s %q: start the sweep again", file, words[i], value)
		}
	}
	return nil
}

// program returns where this program and the folder of a sweep are, also for machines that share the disk.
func program(g *sweep.Grid) (path, dir string, err error) {
	if path, err = os.Executable(); err == nil {
		dir, err = filepath.Abs(g.Path())
	}
	return path, dir, err
}
