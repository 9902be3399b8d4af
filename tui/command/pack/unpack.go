package pack

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"pgrlab/core/checkpoint"
	"pgrlab/core/config"
	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/command/terminal"
)

// UnpackCommand is unpack.
func UnpackCommand() *cobra.Command {
	var out string
	var list bool
	c := &cobra.Command{
		Use:   "unpack FILE",
		Short: "make run folders of a file that pack has written, for train --resume",
		Long: `Makes the run folders that pack has written into a file, and prints their paths. Everything
in the file is verified before there is a folder: there will be all of them or none. A
folder of the same name is never replaced. train --resume continues each run.`,
		Example: `  pgrlab unpack a.pgrpack
  pgrlab unpack all.pgrpack --list
  pgrlab unpack all.pgrpack --out here | xargs -n 1 pgrlab train --resume`,
		Args: cli.ExactArgs(1, "a file that pgrlab pack has written"),
		RunE: func(c *cobra.Command, args []string) error {
			file, err := run.OpenNamed(args[0])
			if err != nil {
				return cli.Usagef("unpack: %w", err)
			}
			defer file.Close()
			if list {
				err = listed(file, c.OutOrStdout())
			} else {
				err = unpack(file, out, c.OutOrStdout(), c.ErrOrStderr())
			}
			if err != nil {
				return fmt.Errorf("unpack %s: %w", args[0], err)
			}
			return nil
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&out, "out", rundir.Root(), "`FOLDER` in which the run folders are made")
	f.BoolVar(&list, "list", false, "print which runs the file has, and make none")
	return c
}

func unpack(file *os.File, out string, stdout, stderr io.Writer) error {
	progress := terminal.NewProgress(stderr)
	dirs, err := run.Unpack(file, out, limitOf, progress.Bytes("unpacks"))
	progress.Clear()
	for _, dir := range dirs {
		fmt.Fprintln(stdout, dir)
	}
	if err != nil {
		return asked(err)
	}
	if len(dirs) == 1 && terminal.IsTerminal(stdout) {
		fmt.Fprintln(stderr, "continue it: pgrlab train --resume "+shell.Word(dirs[0]))
	}
	return nil
}

// asked is an error of a file that a person named.
func asked(err error) error {
	if run.IsFull(err) {
		return err
	}
	return cli.AsUsage(err)
}

// limitOf is how much a checkpoint of a packed run can hold. While one is unpacked it is in memory, all but
// its data.
func limitOf(p *run.Packed) (run.Limit, error) {
	c, err := configOf(p)
	if err != nil {
		return 0, err
	}
	var claimed float64
	for _, s := range p.Checkpoint.Sections {
		claimed += float64(s.Bytes)
	}
	if m := config.ThisMachine(); m.Memory > 0 && claimed > m.Memory/2 {
		return 0, fmt.Errorf("%s takes %s of memory to unpack, and %s", p.Name, cli.Size(int64(claimed)), m)
	}
	return checkpoint.Limit(&c), nil
}

func configOf(p *run.Packed) (config.Config, error) {
	c, err := presets.Decode(p.Name, []byte(p.Config))
	if err != nil {
		return c, fmt.Errorf("is damaged: its configuration: %w", err)
	}
	return c, nil
}

// listed prints which runs a file has.
func listed(file *os.File, stdout io.Writer) error {
	all, err := run.ReadPacked(file)
	if err != nil {
		return cli.AsUsage(err)
	}
	var rows [][]string
	for i := range all {
		p := &all[i]
		c, err := configOf(p)
		if err != nil {
			return cli.AsUsage(err)
		}
		rows = append(rows, []string{
			p.Name, fmt.Sprintf("%s/%s", report.Count(p.Checkpoint.Step), report.Count(c.Steps)), c.Task, c.Method, p.Checkpoint.Time, cli.Size(p.Bytes()),
		})
	}
	return cli.WriteFitting(stdout, []string{"RUN", "STEP", "TASK", "METHOD", "SAVED", "UNPACKED"}, rows, "SAVED", "UNPACKED")
}
