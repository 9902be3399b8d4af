package sweep

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pgrlab/core/shell"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/machine"
)

// The folder of a sweep may come from someone else, and options of ssh and sbatch can run commands.
// So the words of the commands that a sweep calls come from this process and its flags; what the
// folder records of them is only compared or named.

// callFlags are the flags of commands about a sweep that exists.
type callFlags struct {
	ssh, sbatch []string
}

func (f *callFlags) addSSH(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.ssh, "ssh", nil, "`OPTION` for ssh, as the sweep was begun with, such as -oProxyJump=gate; repeatable")
}

func (f *callFlags) addSbatch(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.sbatch, "sbatch", nil, "`OPTION` for sbatch, as the jobs were submitted with; repeatable")
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

// again returns the options of this command, which have to be there if the sweep's folder records some.
func again(flag string, given, recorded []string) ([]string, error) {
	if len(given) > 0 || len(recorded) == 0 {
		return given, nil
	}
	var words []string
	for _, o := range recorded {
		words = append(words, "--"+flag+"="+shell.Value(o))
	}
	return nil, cli.Usagef("it was begun with options, which are not taken from its folder because they can run commands: give them again if you know them: %s", strings.Join(words, " "))
}

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
func program(out string) (path, dir string, err error) {
	if path, err = os.Executable(); err == nil {
		dir, err = filepath.Abs(out)
	}
	return path, dir, err
}
