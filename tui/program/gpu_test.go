package program

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/device/cuda"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/testing/emulator"
	"pgrlab/tui/command/cli"
)

// tinyRun learns from its 30th step on, with networks that an interpreted GPU can
// afford.
const tinyRun = `
task = "cartpole-swingup"
method = "sac"
scale = "demo"
steps = 36
start_steps = 30
[agent]
hidden = [8]
[evaluation]
every = 18
episodes = 1
dormant_states = 8
[knobs]
batch = 8
utd = 1
`

// interpreted are deps with one GPU that is interpreted.
func interpreted(d cli.Deps, o emulator.Options) cli.Deps {
	o.Unchecked = true
	machine := emulator.New(o)
	d.CheckGPU = nil
	d.ChooseGPU = func(name string) (cli.GPU, string, error) {
		all, err := machine.Devices()
		if err != nil {
			return cli.GPU{}, "", err
		}
		c, err := driver.Choose(all, name, cuda.Least, nil)
		return describe(driver.Seen{Info: c.Device}), c.Why, err
	}
	d.Device = func(r cli.DeviceRequest) (cli.Device, error) {
		if r.GPU == nil {
			return newDevice(r)
		}
		g, err := cuda.New(func() (driver.Context, error) { return machine.Open(r.GPU.Index) }, cuda.Options{Precision: precisions[r.Precision]})
		if err != nil {
			return nil, err
		}
		return gpu{g}, nil
	}
	return d
}

// A GPU that is lost while a run trains on it: the run ends with the line that goes on
// without it, saves nothing through it, and goes on from its last checkpoint.
func TestTrainLosesItsGPU(t *testing.T) {
	launches := 0
	d := interpreted(setUp(t), emulator.Options{Fail: func(call string) int {
		if call == "cuGraphLaunch" {
			launches++
		}
		if launches == 12 {
			return 719
		}
		return 0
	}})
	if err := os.WriteFile("lost.toml", []byte(tinyRun), 0o644); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	if status, _ := pgrlab(t, d, &stderr, "train", "--preset", "lost.toml", "--precision", "fp32", "--checkpoint-every", "1ns", "--out", "run"); status != cli.StatusFailed {
		t.Fatalf("status %d\n%s", status, stderr.String())
	}
	if said := stderr.String(); !strings.Contains(said, "the device is lost") || !strings.Contains(said, "saved last at ") || !strings.Contains(said, "on another device: pgrlab train --resume run --device cpu") {
		t.Errorf("it says\n%s", said)
	}
	n := types(t, "run")
	if n["failed"] != 1 || n["done"] != 0 || n["pause"] != 0 {
		t.Errorf("lines of the journal: %v", n)
	}
	if _, err := os.Stat(filepath.Join("run", "policy.bin")); err == nil {
		t.Error("a policy was saved through a GPU that is lost")
	}
	stderr.Reset()
	if status, _ := pgrlab(t, d, &stderr, "train", "--resume", "run", "--device", "cpu"); status != cli.StatusDone {
		t.Fatalf("resumed: status %d\n%s", status, stderr.String())
	}
	if n := types(t, "run"); n["failed"] != 0 || n["done"] != 1 {
		t.Errorf("resumed, lines of the journal: %v\n%s", n, stderr.String())
	}
}

// A whole run on a GPU that is interpreted: chosen by auto, written into the
// journal, gone on with at the same precision.
func TestTrainOnAGPU(t *testing.T) {
	d := interpreted(setUp(t), emulator.Options{})
	dir := t.TempDir()
	preset := filepath.Join(dir, "tiny.toml")
	if err := os.WriteFile(preset, []byte(tinyRun), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "run")
	var stderr bytes.Buffer
	if status, _ := pgrlab(t, d, &stderr, "train", "--preset", preset, "--precision", "fp32", "--out", out); status != 0 {
		t.Fatalf("status %d\n%s", status, stderr.String())
	}
	for _, want := range []string{"computes on cuda:0, emulated GPU (GPU-00000000-0000-0000-0000-000000000000), fp32: 4 GiB free", " of GPU memory: networks "} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, stderr.String())
		}
	}
	config, err := os.ReadFile(filepath.Join(out, "config.toml"))
	if err != nil || !strings.Contains(string(config), "device = 'cuda'") || !strings.Contains(string(config), "precision = 'fp32'") {
		t.Errorf("config.toml: %v\n%s", err, config)
	}
	journal, err := os.ReadFile(filepath.Join(out, "events.jsonl"))
	if err != nil || !strings.Contains(string(journal), `"device":"cuda emulated GPU fp32","precision":"fp32"`) || !strings.Contains(string(journal), `"type":"done"`) {
		t.Errorf("events.jsonl: %v\n%s", err, journal)
	}
}
