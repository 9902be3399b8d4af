package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgrlab/core/lab"
)

// testGPU is the GPU of the tests.
func testGPU() GPU {
	busy, others := 0.37, 0
	return GPU{Index: 1, Name: "Test GPU", UUID: "GPU-1234", Capability: "9.0", Memory: 80 << 30, Free: 79 << 30, Compute: &busy, Others: &others}
}

// gpuDeps have one GPU, or say why there is none.
func gpuDeps(err error) Deps {
	d := testDeps()
	d.ChooseGPU = func(string) (GPU, string, error) { return testGPU(), "79 GiB free", err }
	d.GPUs = func() GPUs {
		g := GPUs{CUDA: "12.4", Driver: "550.54.14", Least: "450.80.02 (CUDA 11.0)", NVML: "", Found: []GPU{testGPU()}}
		if err != nil {
			g = GPUs{Least: g.Least, Error: err.Error()}
		}
		return g
	}
	d.TryGPU = func(GPU) (string, error) { return "20 files compiled in 1 s", nil }
	return d
}

var errNoDriver = errors.New("no CUDA driver: libcuda.so.1 was not found: install NVIDIA's driver")

func TestSettleDevice(t *testing.T) {
	given := func(names ...string) func(string) bool {
		return func(name string) bool { return strings.Contains(" "+strings.Join(names, " ")+" ", " "+name+" ") }
	}
	for _, c := range []struct {
		about           string
		flags           runFlags
		config          lab.Config // what the preset says
		none            error      // why there is no GPU
		device          string
		precision, said string // said: in the line for people, or in the error where device is ""
	}{
		{"nothing said, a GPU", runFlags{device: "auto"}, lab.Config{Device: "auto"}, nil, "cuda", "tf32", "computes on cuda:1, Test GPU (GPU-1234), tf32: 79 GiB free"},
		{"nothing said, none", runFlags{device: "auto"}, lab.Config{Device: "auto"}, errNoDriver, "cpu", "", "computes on the CPU: no CUDA driver: libcuda.so.1 was not found"},
		{"cpu", runFlags{device: "cpu", changed: given("device")}, lab.Config{Device: "auto"}, nil, "cpu", "", ""},
		{"cuda", runFlags{device: "cuda", precision: "bf16", changed: given("device")}, lab.Config{Device: "auto"}, nil, "cuda", "bf16", "bf16"},
		{"cuda, none", runFlags{device: "cuda:3", changed: given("device")}, lab.Config{Device: "auto"}, errNoDriver, "", "", "no CUDA driver"},
		{"a run on the CPU stays there", runFlags{device: "auto"}, lab.Config{Device: "cpu"}, nil, "cpu", "", ""},
		{"unless it is told otherwise", runFlags{device: "auto", changed: given("device")}, lab.Config{Device: "cpu"}, nil, "cuda", "tf32", "cuda:1"},
		{"a run on a GPU keeps its precision", runFlags{device: "auto", resume: "x"}, lab.Config{Device: "cuda", Precision: "fp32"}, nil, "cuda", "fp32", "fp32"},
		{"and goes on without one", runFlags{device: "auto", resume: "x"}, lab.Config{Device: "cuda", Precision: "fp32"}, errNoDriver, "cpu", "", "goes on with the CPU"},
		{"a preset's GPU that is not there", runFlags{device: "auto"}, lab.Config{Device: "cuda"}, errNoDriver, "", "", "no CUDA driver"},
		{"UUID", runFlags{device: "GPU-12", changed: given("device")}, lab.Config{}, nil, "cuda", "tf32", "GPU-1234"},
		{"odd precision", runFlags{device: "cuda", precision: "fp16", changed: given("device")}, lab.Config{}, nil, "", "", `unknown precision "fp16"`},
		{"precision of the CPU", runFlags{device: "cpu", precision: "fp32", changed: given("device")}, lab.Config{}, nil, "", "", "--precision and --gpu-mem are for GPUs"},
		{"odd index", runFlags{device: "cuda:x", changed: given("device")}, lab.Config{}, nil, "", "", "want cuda:0, cuda:1"},
		{"odd name", runFlags{device: "gpu", changed: given("device")}, lab.Config{}, nil, "", "", "unknown device"},
	} {
		r, config := c.flags, c.config
		if r.changed == nil {
			r.changed = given()
		}
		err := r.settleDevice(gpuDeps(c.none), &config)
		said := r.place.said
		if err != nil {
			said = err.Error()
		}
		if (err != nil) != (c.device == "") || err == nil && (config.Device != c.device || config.Precision != c.precision) || !strings.Contains(said, c.said) {
			t.Errorf("%s: %s %q, said %q; want %s %q, %q", c.about, config.Device, config.Precision, said, c.device, c.precision, c.said)
		}
		if err == nil && (r.place.gpu != nil) != (c.device == "cuda") {
			t.Errorf("%s: the device is %+v", c.about, r.place.gpu)
		}
	}
}

// A GPU that auto would take is tried, in the precision that was asked for; one that is
// wrong is left, and where it was asked for it is taken with a warning. Who times one is
// told nothing.
func TestAWrongGPU(t *testing.T) {
	var tried []string
	d := gpuDeps(nil)
	d.CheckGPU = func(g GPU, precision string) error {
		tried = append(tried, g.UUID+" "+precision)
		return errors.New("tile 64x64: off by 7\nof 1")
	}
	const wrong = "cuda:1 does not do what the CPU does: tile 64x64: off by 7 of 1"
	for _, c := range []struct {
		device, precision, said string
		gpu                     bool
	}{
		{"auto", "bf16", "computes on the CPU: " + wrong + ": choose it by --device cuda:1 all the same", false},
		{"cuda", "fp32", "computes on cuda:1, Test GPU (GPU-1234), fp32: 79 GiB free: beware: " + wrong, true},
		{"cuda:1", "tf32", "beware: " + wrong, true},
		{"GPU-12", "tf32", "beware: " + wrong, true},
		{"cpu", "", "", false},
	} {
		tried = nil
		where, err := d.find(c.device, c.precision)
		if err != nil || (where.gpu != nil) != c.gpu || !strings.HasSuffix(where.said, c.said) {
			t.Errorf("%s: %+v, %v; want %q", c.device, where, err, c.said)
		}
		if n := len(tried); c.device != "cpu" && (n != 1 || tried[0] != "GPU-1234 "+c.precision) || c.device == "cpu" && n != 0 {
			t.Errorf("%s: tried %q", c.device, tried)
		}
	}
	d.CheckGPU = func(GPU, string) error { return nil }
	if where, err := d.find("auto", "tf32"); err != nil || where.gpu == nil || strings.Contains(where.said, "beware") {
		t.Errorf("a right one: %+v, %v", where, err)
	}
}

func TestDoctorShowsGPUs(t *testing.T) {
	run := func(d Deps, args ...string) string {
		var out, stderr bytes.Buffer
		if status := Main(context.Background(), d, args, strings.NewReader(""), &out, &stderr); status != 0 {
			t.Errorf("%v: status %d: %s", args, status, stderr.String())
		}
		return out.String()
	}
	text := run(gpuDeps(nil), "doctor")
	for _, want := range []string{
		"--device auto computes on cuda:1, Test GPU (GPU-1234), tf32: 79 GiB free",
		"driver 550.54.14, CUDA 12.4; at least 450.80.02 (CUDA 11.0) is needed",
		"cuda:1  Test GPU, GPU-1234, compute capability 9.0, 79.0 GiB of 80.0 GiB free, 37% busy",
		"kernels: 20 files compiled in 1 s",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("doctor does not say %q:\n%s", want, text)
		}
	}
	var found diagnosis
	if err := json.Unmarshal([]byte(run(gpuDeps(nil), "doctor", "--json")), &found); err != nil || !found.GPU.Supported || found.GPU.Found[0].UUID != "GPU-1234" || found.GPU.Kernels == "" {
		t.Errorf("%+v, %v", found.GPU, err)
	}
	text = run(gpuDeps(errNoDriver), "doctor")
	for _, want := range []string{"none: training runs on the CPU: no CUDA driver: libcuda.so.1 was not found", "least driver 450.80.02 (CUDA 11.0)"} {
		if !strings.Contains(text, want) {
			t.Errorf("doctor without a GPU does not say %q:\n%s", want, text)
		}
	}
	text = run(gpuDeps(nil), "list", "devices")
	if !strings.Contains(text, "cuda:1") || !strings.Contains(text, "79.0 GiB of 80.0 GiB free") {
		t.Errorf("list devices:\n%s", text)
	}
	if text = run(gpuDeps(errNoDriver), "list", "devices", "--json"); !strings.Contains(text, `"name": "cuda",`) || !strings.Contains(text, "libcuda.so.1 was not found") {
		t.Errorf("list devices --json:\n%s", text)
	}
}
