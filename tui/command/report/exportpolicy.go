package report

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strconv"

	"pgrlab/core/policy"
	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
)

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

// savedPolicy is a policy that a run has left.
type savedPolicy struct {
	io.ReadCloser
	path  string
	about map[string]string // metadata of what is made from it
}

// policyOf is the policy of a member: that of the checkpoint of a step or, if step is negative, what the run saved
// at its end. A run that has not ended, or goes on after an end, has that of its last checkpoint.
func policyOf(d cli.Deps, of *report.Run, member, step int) (*savedPolicy, error) {
	if member < 0 || member >= len(of.Members) {
		return nil, cli.Usagef("%s: it has no member %d, but %d of them, from 0", of.Dir, member, len(of.Members))
	}
	about := map[string]string{"task": of.Task, "method": of.Method, "seed": strconv.FormatUint(of.Members[member].Seed, 10), "program": "pgrlab " + of.Version}
	found, err := run.Checkpoints(of.Dir)
	if len(found) > 0 && (step >= 0 || !of.Done) {
		return inCheckpoint(d, of.Dir, member, step, about)
	}
	if step >= 0 {
		return nil, cmp.Or(err, fmt.Errorf("%s: it has no checkpoint yet", of.Dir))
	}
	name := run.PolicyName
	if len(of.Members) > 1 {
		name = fmt.Sprintf("policy-%d.bin", member)
	}
	file, err := run.OpenFile(of.Dir, name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no %s: a run writes it when it ends, and there is no checkpoint yet: pgrlab checkpoint %s saves one", of.Dir, name, shell.Word(of.Dir))
	}
	if err != nil {
		return nil, err
	}
	if of.Done { // a run that was resumed has the policy of an earlier end, whose step is not known
		about["step"] = strconv.Itoa(of.Step)
	}
	return &savedPolicy{file, filepath.Join(of.Dir, name), about}, nil
}

// inCheckpoint is the policy in a checkpoint.
func inCheckpoint(d cli.Deps, dir string, member, step int, about map[string]string) (*savedPolicy, error) {
	saved, err := rundir.Saved(dir, step)
	if err != nil {
		return nil, err
	}
	task, err := d.TaskIn(dir, saved.Config.Task, saved.Config.Environment)
	if err != nil {
		return nil, err
	}
	device, err := d.Device(cli.DeviceRequest{Threads: 1})
	if err != nil {
		return nil, err
	}
	defer device.Close()
	text, at, err := saved.Policy(task, device, member)
	if err != nil {
		return nil, err
	}
	about["step"] = strconv.Itoa(at)
	return &savedPolicy{io.NopCloser(bytes.NewReader(text)), fmt.Sprintf("%s at step %s", dir, report.Count(at)), about}, nil
}

// A writer writes an export, all of which is in memory: what cannot be made replaces no file.
type writer func(w io.Writer) error

// weights makes safetensors of the policy.
func (p *savedPolicy) weights() (writer, error) {
	layers, err := policy.ReadLayers(p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.path, err)
	}
	var all []report.Tensor
	for _, l := range layers {
		all = append(all, report.Tensor{Name: l.Name + ".weight", Shape: []int{l.Out, l.In}, Data: l.Weight},
			report.Tensor{Name: l.Name + ".bias", Shape: []int{l.Out}, Data: l.Bias})
	}
	about := maps.Clone(p.about)
	about["hidden_activation"], about["action"] = "relu", "tanh(last_fc_layer)"
	return func(w io.Writer) error { return report.Safetensors(w, all, about) }, nil
}

// onnx makes a model of the policy, with the bounds of its run's task.
func (p *savedPolicy) onnx(d cli.Deps, dir string) (writer, error) {
	saved, err := rundir.Saved(dir, -1)
	if err != nil {
		return nil, err
	}
	c := saved.Config
	task, err := d.TaskIn(dir, c.Task, c.Environment)
	if err != nil {
		return nil, err
	}
	bounds, err := policy.BoundsOf(task, c.Environment)
	if err != nil {
		return nil, err
	}
	var model bytes.Buffer
	if err := policy.ONNX(&model, &c, task, bounds, p.about, p); err != nil {
		return nil, fmt.Errorf("%s: %w", p.path, err)
	}
	return func(w io.Writer) error { _, err := w.Write(model.Bytes()); return err }, nil
}
