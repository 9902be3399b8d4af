package command

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"pgrlab/tui/command/cli"
	"pgrlab/tui/testing/commandtest"
)

func TestDoctorShowsGPUs(t *testing.T) {
	run := func(d cli.Deps, args ...string) string {
		var out, stderr bytes.Buffer
		if status := Main(context.Background(), d, args, strings.NewReader(""), &out, &stderr); status != 0 {
			t.Errorf("%v: status %d: %s", args, status, stderr.String())
		}
		return out.String()
	}
	text := run(commandtest.DepsWithGPU(nil), "doctor")
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
	var found struct {
		GPU struct {
			Supported bool
			Kernels   string
			Devices   []cli.GPU
		}
	}
	if err := json.Unmarshal([]byte(run(commandtest.DepsWithGPU(nil), "doctor", "--json")), &found); err != nil || !found.GPU.Supported || found.GPU.Devices[0].UUID != "GPU-1234" || found.GPU.Kernels == "" {
		t.Errorf("%+v, %v", found.GPU, err)
	}
	text = run(commandtest.DepsWithGPU(commandtest.ErrNoDriver), "doctor")
	for _, want := range []string{"none: training runs on the CPU: no CUDA driver: libcuda.so.1 was not found", "least driver 450.80.02 (CUDA 11.0)"} {
		if !strings.Contains(text, want) {
			t.Errorf("doctor without a GPU does not say %q:\n%s", want, text)
		}
	}
	text = run(commandtest.DepsWithGPU(nil), "list", "devices")
	if !strings.Contains(text, "cuda:1") || !strings.Contains(text, "79.0 GiB of 80.0 GiB free") {
		t.Errorf("list devices:\n%s", text)
	}
	if text = run(commandtest.DepsWithGPU(commandtest.ErrNoDriver), "list", "devices", "--json"); !strings.Contains(text, `"name": "cuda",`) || !strings.Contains(text, "libcuda.so.1 was not found") {
		t.Errorf("list devices --json:\n%s", text)
	}
}
