package report

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pgrlab/core/printable"
	"pgrlab/core/report"
	"pgrlab/core/shell"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/results"
	"pgrlab/tui/command/rundir"
)

// exportRequest holds the flags of export.
type exportRequest struct {
	format, buffer, out string
	weights, onnx       bool
	loader, uploader    bool
	member, step        int
}

// The values of --format and --buffer.
var (
	formats = []string{"csv", "csv-wide", "tensorboard"}
	buffers = []string{"real", "syn"}
)

// The endings of the files that are exported.
const (
	endingCSV     = ".csv"
	endingWeights = ".safetensors"
	endingONNX    = ".onnx"
	endingRows    = ".npz"
)

// ExportCommand is export.
func ExportCommand(d cli.Deps) *cobra.Command {
	var r exportRequest
	c := &cobra.Command{
		Use:   "export DIR",
		Short: "write a run's numbers, weights or transitions for other programs",
		Long: `Writes one of these:
  --format csv           every number of the journal, one a row, to stdout or --out FILE
  --format csv-wide      the same with a column for each quantity, after step and timestamp
  --format tensorboard   the same as an event file in the folder --out
  --uploader             a Python program that hands them to wandb, mlflow or trackio
  --onnx                 the policy without noise as ONNX: action in [-1,1], and action_env
                         in the bounds of the task
  --weights              the policy as safetensors, in PyTorch's layout [out,in];
                         --show-loader prints a short Python program that reads it
  --buffer real|syn      transitions of the last checkpoint as npz, under D4RL's names:
                         timeouts are 1 where the data are cut, which is after every row
                         of syn; real has episode, if known
A run that has not ended has the policy of its last checkpoint. --step takes the policy
or the transitions of another checkpoint.`,
		Example: `  pgrlab export runs/a --format csv-wide > a.csv
  pgrlab export runs/a --format tensorboard --out tb && tensorboard --logdir tb
  pgrlab export runs/a --uploader > upload.py && python3 upload.py wandb
  pgrlab export runs/a --onnx --out policy.onnx
  pgrlab export runs/a --weights --out policy.safetensors
  pgrlab export --show-loader > load.py && python3 load.py policy.safetensors
  pgrlab export runs/a --buffer syn --out syn.npz`,
		Args: func(c *cobra.Command, args []string) error {
			if r.onnx && len(args) == 2 {
				return cli.Usagef("export: --onnx takes no file: name it with --out %s", shell.Word(args[1]))
			}
			return cli.RangeArgs(0, 1, "one run folder")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			return r.export(d, args, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&r.format, "format", "", "`csv|csv-wide|tensorboard` export the journal's numbers")
	f.BoolVar(&r.uploader, "uploader", false, "print a program that uploads the journal's numbers")
	f.BoolVar(&r.onnx, "onnx", false, "export the policy as ONNX")
	f.BoolVar(&r.weights, "weights", false, "export the policy's weights")
	f.BoolVar(&r.loader, "show-loader", false, "print a program that reads the exported weights")
	f.StringVar(&r.buffer, "buffer", "", "`real|syn` export real or synthetic transitions")
	cli.CountVar(f, &r.member, "member", -1, 0, "`I` with --onnx, --weights or --buffer: member of a cohort, from 0")
	cli.CountVar(f, &r.step, "step", -1, 0, "`N` with --onnx, --weights or --buffer: step of the checkpoint (default: the latest)")
	f.StringVar(&r.out, "out", "", "`PATH` where to write (default: stdout for csv, else a name made from the run's, in this folder)")
	return c
}

func (r *exportRequest) export(d cli.Deps, args []string, stdout, stderr io.Writer) error {
	var kinds []string
	for _, k := range []struct {
		flag  string
		given bool
	}{
		{"--format", r.format != ""}, {"--uploader", r.uploader}, {"--onnx", r.onnx}, {"--weights", r.weights}, {"--buffer", r.buffer != ""}, {"--show-loader", r.loader},
	} {
		if k.given {
			kinds = append(kinds, k.flag)
		}
	}
	switch {
	case len(kinds) == 0:
		return cli.Usagef("export: needs one of --format, --uploader, --onnx, --weights, --buffer and --show-loader: see pgrlab export --help")
	case len(kinds) > 1:
		return cli.Usagef("export: %s were given: each is an export of its own, leave all but one out", strings.Join(kinds, " and "))
	case (r.loader || r.uploader) && r.out != "":
		return cli.Usagef("export: %s writes to stdout: leave --out out", kinds[0])
	case (r.loader || r.uploader) && r.member >= 0:
		return cli.Usagef("export: --member goes with --onnx, --weights and --buffer: leave it out")
	case r.uploader:
		return writeUploader(stdout, args)
	case r.loader:
		_, err := io.WriteString(stdout, loader)
		return err
	case len(args) == 0:
		return cli.Usagef("export: needs one run folder: see pgrlab export --help")
	case r.step >= 0 && r.buffer == "" && !r.onnx && !r.weights:
		return cli.Usagef("export: --step goes with --onnx, --weights and --buffer: leave it out")
	case r.member >= 0 && r.format != "":
		return cli.Usagef("export: --member goes with --onnx, --weights and --buffer: leave it out")
	case r.format != "" && !slices.Contains(formats, r.format):
		return cli.AsUsage(fmt.Errorf("export: --format: %w", presets.NoChoice("format", r.format, formats...)))
	case r.buffer != "" && !slices.Contains(buffers, r.buffer):
		return cli.AsUsage(fmt.Errorf("export: --buffer: %w", presets.NoChoice("buffer", r.buffer, buffers...)))
	}
	if err := r.checkOut(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	dir, err := rundir.Find(args[0])
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	of, err := results.LoadRun(dir)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if of.Changed != "" {
		fmt.Fprintf(stderr, "%s: %s\n", printable.Line(of.Dir), of.Changed)
	}
	if err := r.write(d, of, stdout, stderr); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// checkOut returns an error if --out does not fit what is exported.
func (r *exportRequest) checkOut() error {
	switch {
	case r.out == "":
		return nil
	case r.format == "tensorboard":
		return cli.Folder(r.out, "event files")
	case r.format != "":
		return cli.Ending("out", r.out, endingCSV, "numbers are written as CSV")
	case r.onnx:
		return cli.Ending("out", r.out, endingONNX, "policies are written as ONNX")
	case r.weights:
		return cli.Ending("out", r.out, endingWeights, "weights are written as safetensors")
	}
	return cli.Ending("out", r.out, endingRows, "transitions are written as npz")
}

// write writes what the flags ask for.
func (r *exportRequest) write(d cli.Deps, of *report.Run, stdout, stderr io.Writer) error {
	base := rundir.Name(of.Dir)
	r.member = max(0, r.member)
	if r.format == "" && len(of.Members) > 1 {
		base += fmt.Sprintf("-member%d", r.member)
	}
	switch {
	case r.format == "tensorboard":
		dir := filepath.Join(cmp.Or(r.out, "tensorboard"), base)
		if err := cli.MakeFolder(dir, "event files"); err != nil {
			return err
		}
		return r.put(filepath.Join(dir, report.EventFile(of.Began(), of.Host)), stderr, of.TensorBoard)
	case r.format != "":
		table := of.CSV
		if r.format == "csv-wide" {
			table = of.WideCSV
		}
		if r.out == "" {
			return table(stdout)
		}
		return r.put(r.out, stderr, table)
	case r.weights || r.onnx:
		return r.policy(d, of, base, stderr)
	}
	rows, episodes, err := r.transitions(d, of, stderr)
	if err != nil {
		return err
	}
	return r.put(cmp.Or(r.out, base+"-"+r.buffer+endingRows), stderr, func(w io.Writer) error { return report.NPZ(w, rows, episodes) })
}

// policy writes the policy of a member.
func (r *exportRequest) policy(d cli.Deps, of *report.Run, base string, stderr io.Writer) error {
	saved, err := policyOf(d, of, r.member, r.step)
	if err != nil {
		return err
	}
	defer saved.Close()
	make, ending := saved.weights, endingWeights
	if r.onnx {
		make, ending = func() (writer, error) { return saved.onnx(d, of.Dir) }, endingONNX
	}
	write, err := make()
	if err != nil {
		return err
	}
	return r.put(cmp.Or(r.out, base+ending), stderr, write)
}

// put writes a file and reports its path, and whether there was another one.
func (r *exportRequest) put(path string, stderr io.Writer, write func(io.Writer) error) error {
	said := path
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		said += " (replaced)"
	}
	if err := cli.WriteFile(path, write); err != nil {
		return err
	}
	_, err := fmt.Fprintln(stderr, said)
	return err
}

// transitions reads a buffer from a checkpoint, and which episodes its rows are of, if they are known.
func (r *exportRequest) transitions(d cli.Deps, of *report.Run, stderr io.Writer) (report.Transitions, *report.Episodes, error) {
	saved, err := rundir.Saved(of.Dir, r.step)
	if err != nil {
		return nil, nil, err
	}
	task, err := d.TaskIn(of.Dir, saved.Config.Task, saved.Config.Environment)
	if err != nil {
		return nil, nil, err
	}
	if r.buffer == "syn" {
		rows, err := saved.SyntheticBuffer(task, r.member)
		if mixed := rows.Mixed(); mixed > 0 {
			fmt.Fprintf(stderr, "D_syn is mixed: the newest %.0f %% of its rows are of a generation that was under way after a change\n", 100*mixed)
		}
		return rows, nil, err
	}
	rows, err := saved.RealBuffer(task, r.member)
	if err != nil {
		return nil, nil, err
	}
	first, ok := rows.First()
	if !ok {
		return rows, nil, nil
	}
	switch {
	case saved.Config.Dreams(): // recorded rows, whose episodes are not in its journal
		first = -rows.Len()
	case saved.Config.Data.Seeds():
		first -= saved.Config.Data.Rows
	}
	episodes, err := of.Episodes(rows, r.member, saved.Config.Environment.InLockstep(), first)
	return rows, episodes, err
}
