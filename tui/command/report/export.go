package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pgrlab/core/policy"
	"pgrlab/core/printable"
	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/results"
	"pgrlab/tui/command/rundir"
)

// exportRequest holds the flags of export.
type exportRequest struct {
	format, buffer, out string
	weights, loader     bool
	member, step        int
}

// loader is a Python program that reads exported weights.
const loader = `# Reads a policy that pgrlab exported with --weights; needs NumPy only.
# The names are those of watchernyu/REDQ's TanhGaussianPolicy: with PyTorch,
# policy.load_state_dict(safetensors.torch.load_file("policy.safetensors")).
import json, struct, sys
import numpy as np

def load(path):
    raw = open(path, "rb").read()
    (size,) = struct.unpack("<Q", raw[:8])
    head = json.loads(raw[8:8 + size])
    meta, data = head.pop("__metadata__"), raw[8 + size:]
    def array(t):
        first, last = t["data_offsets"]
        return np.frombuffer(data[first:last], "<f4").reshape(t["shape"])
    return {name: array(t) for name, t in head.items()}, meta

def act(w, obs):                       # the action that evaluation takes
    x, i = np.asarray(obs, "<f4"), 0
    while f"hidden_layers.{i}.weight" in w:
        x = np.maximum(x @ w[f"hidden_layers.{i}.weight"].T + w[f"hidden_layers.{i}.bias"], 0)
        i += 1
    return np.tanh(x @ w["last_fc_layer.weight"].T + w["last_fc_layer.bias"])

if __name__ == "__main__":
    w, meta = load(sys.argv[1])
    print(meta, act(w, np.zeros(w["hidden_layers.0.weight"].shape[1])))
`

// The values of --format and --buffer.
var (
	formats = []string{"csv", "tensorboard"}
	buffers = []string{"real", "syn"}
)

// The endings of the files that are exported.
const (
	endingCSV     = ".csv"
	endingWeights = ".safetensors"
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
  --format tensorboard   the same as an event file in the folder --out
  --weights              the policy as safetensors, in PyTorch's layout [out,in];
                         --show-loader prints a short Python program that reads it
  --buffer real|syn      transitions of the last checkpoint, or that of --step, as npz
                         under D4RL's names: timeouts are 1 where the data are cut, which
                         is after every row of syn; real has episode, if known`,
		Example: `  pgrlab export runs/a --format csv > a.csv
  pgrlab export runs/a --format tensorboard --out tb && tensorboard --logdir tb
  pgrlab export runs/a --weights --out policy.safetensors
  pgrlab export --show-loader > load.py && python3 load.py policy.safetensors
  pgrlab export runs/a --buffer syn --out syn.npz`,
		Args: cli.RangeArgs(0, 1, "one run folder"),
		RunE: func(c *cobra.Command, args []string) error {
			return r.export(d, args, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&r.format, "format", "", "`csv|tensorboard` export the journal's numbers")
	f.BoolVar(&r.weights, "weights", false, "export the policy's weights")
	f.BoolVar(&r.loader, "show-loader", false, "print a program that reads the exported weights")
	f.StringVar(&r.buffer, "buffer", "", "`real|syn` export real or synthetic transitions")
	cli.CountVar(f, &r.member, "member", -1, 0, "`I` with --weights or --buffer: member of a cohort, from 0")
	cli.CountVar(f, &r.step, "step", -1, 0, "`N` with --buffer: step of the checkpoint (default: the latest)")
	f.StringVar(&r.out, "out", "", "`PATH` where to write (default: stdout for csv, else a name made from the run's, in this folder)")
	return c
}

func (r *exportRequest) export(d cli.Deps, args []string, stdout, stderr io.Writer) error {
	var kinds []string
	for _, k := range []struct {
		flag  string
		given bool
	}{{"--format", r.format != ""}, {"--weights", r.weights}, {"--buffer", r.buffer != ""}, {"--show-loader", r.loader}} {
		if k.given {
			kinds = append(kinds, k.flag)
		}
	}
	switch {
	case len(kinds) == 0:
		return cli.Usagef("export: needs one of --format, --weights, --buffer and --show-loader: see pgrlab export --help")
	case len(kinds) > 1:
		return cli.Usagef("export: %s were given: each is an export of its own, leave all but one out", strings.Join(kinds, " and "))
	case r.loader && r.out != "":
		return cli.Usagef("export: --show-loader writes to stdout: leave --out out")
	case r.loader:
		_, err := io.WriteString(stdout, loader)
		return err
	case len(args) == 0:
		return cli.Usagef("export: needs one run folder: see pgrlab export --help")
	case r.step >= 0 && r.buffer == "":
		return cli.Usagef("export: --step goes with --buffer: leave it out")
	case r.member >= 0 && r.format != "":
		return cli.Usagef("export: --member goes with --weights and --buffer: leave it out")
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
	case r.format == "csv":
		return cli.Ending("out", r.out, endingCSV, "numbers are written as CSV")
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
	case r.format == "csv" && r.out == "":
		return of.CSV(stdout)
	case r.format == "csv":
		return r.put(r.out, stderr, of.CSV)
	case r.format == "tensorboard":
		dir := filepath.Join(cmp.Or(r.out, "tensorboard"), base)
		if err := cli.MakeFolder(dir, "event files"); err != nil {
			return err
		}
		return r.put(filepath.Join(dir, report.EventFile(of.Began(), of.Host)), stderr, of.TensorBoard)
	case r.weights:
		tensors, about, err := r.policy(of)
		if err != nil {
			return err
		}
		return r.put(cmp.Or(r.out, base+endingWeights), stderr, func(w io.Writer) error { return report.Safetensors(w, tensors, about) })
	}
	rows, episodes, err := r.transitions(d, of)
	if err != nil {
		return err
	}
	return r.put(cmp.Or(r.out, base+"-"+r.buffer+endingRows), stderr, func(w io.Writer) error { return report.NPZ(w, rows, episodes) })
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

// policy reads the weights that the run saved.
func (r *exportRequest) policy(of *report.Run) ([]report.Tensor, map[string]string, error) {
	if r.member < 0 || r.member >= len(of.Members) {
		return nil, nil, cli.Usagef("%s: it has no member %d, but %d of them, from 0", of.Dir, r.member, len(of.Members))
	}
	name := run.PolicyName
	if len(of.Members) > 1 {
		name = fmt.Sprintf("policy-%d.bin", r.member)
	}
	path := filepath.Join(of.Dir, name)
	file, err := run.OpenFile(of.Dir, name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s: there is no %s: a run writes it when it ends", of.Dir, name)
	}
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	layers, err := policy.ReadLayers(file)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	var all []report.Tensor
	for _, l := range layers {
		all = append(all, report.Tensor{Name: l.Name + ".weight", Shape: []int{l.Out, l.In}, Data: l.Weight},
			report.Tensor{Name: l.Name + ".bias", Shape: []int{l.Out}, Data: l.Bias})
	}
	about := map[string]string{
		"task": of.Task, "method": of.Method, "seed": strconv.FormatUint(of.Members[r.member].Seed, 10),
		"hidden_activation": "relu", "action": "tanh(last_fc_layer)", "program": "pgrlab " + of.Version,
	}
	if of.Done { // a run that was resumed has the policy of an earlier end, whose step is not known
		about["step"] = strconv.Itoa(of.Step)
	}
	return all, about, nil
}

// transitions reads a buffer from a checkpoint, and which episodes its rows are of, if they are known.
func (r *exportRequest) transitions(d cli.Deps, of *report.Run) (report.Transitions, *report.Episodes, error) {
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
	episodes, err := of.Episodes(rows, r.member, saved.Config.Environment.InLockstep(), first)
	return rows, episodes, err
}
