// Package data has the commands about transitions that other programs have recorded.
package data

import (
	"github.com/spf13/cobra"

	"pgrlab/core/dataset"
	"pgrlab/tui/command/cli"
)

// AdapterCommand is data-adapter.
func AdapterCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "data-adapter",
		Short: "print the Python file that converts recorded data",
		Long: `Prints a Python file that makes an npz for --data of what pgrlab does not read by itself:
datasets of Minari by their names, HDF5 files in any layout, parquet as LeRobot's, replay
buffers of SB3. It also makes a dataset of Minari of an export of pgrlab. It needs Python
3.8, NumPy, and the library of the format. The head of the file says more.`,
		Example: `  pgrlab data-adapter > pgrlab_data.py
  python3 pgrlab_data.py to-npz mujoco/hopper/expert-v0 expert.npz`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := c.OutOrStdout().Write(dataset.Adapter)
			return err
		},
	}
}

// Command is data.
func Command() *cobra.Command {
	c := &cobra.Command{
		Use:   "data check FILE",
		Short: "check recorded data",
		Args:  cli.NoArgs,
		RunE:  cli.NeedsSubcommand,
	}
	c.AddCommand(checkCommand())
	return c
}

func checkCommand() *cobra.Command {
	var o dataset.Options
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "say what is in a file of recorded transitions",
		Long: `Reads a file of recorded transitions as --data does, and says what is in it: rows and
episodes, how these end, and their returns; which rows are dropped, and why; between which
bounds each number is; which never change; rows that repeat others. FILE is an npz (an
export of pgrlab, or SynthER's), an HDF5 file of D4RL or robomimic, or an HDF5 file or the
folder of a dataset of Minari; pgrlab data-adapter makes an npz of others. A line with !
says what is in the way of learning from the data; the exit status is then 1.`,
		Example: `  pgrlab data check hopper_medium-v2.hdf5
  pgrlab data check ~/.minari/datasets/mujoco/hopper/expert-v0
  pgrlab data check actions.npz --act-low -2 --act-high 2`,
		Args: cli.ExactArgs(1, "a file of recorded transitions"),
		RunE: func(c *cobra.Command, args []string) error {
			d, err := dataset.Read(args[0], o)
			if err != nil {
				return err
			}
			all := cli.Findings{Out: c.OutOrStdout()}
			for _, f := range d.Describe() {
				if err := all.Add(cli.Finding(f)); err != nil {
					return err
				}
			}
			return all.Err("data check", "learning")
		},
	}
	f := c.Flags()
	f.SortFlags = false
	cli.BindData(f, &o.Low, &o.High, &o.Done)
	return c
}
