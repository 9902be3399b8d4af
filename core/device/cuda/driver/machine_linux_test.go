//go:build !nogpu && (amd64 || arm64)

package driver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func fakeMachine(t *testing.T) (cuda, nvml *fakeLibrary, m *Machine) {
	t.Helper()
	t.Setenv("CUDA_DEVICE_ORDER", "")
	cuda, nvml = build(t, "fakecuda.c"), build(t, "fakenvml.c")
	cuda.set(t, "devices", 2)
	m = NewMachine(NativeOptions{Library: cuda.path}, 70)
	m.nvml = nvml.path
	return cuda, nvml, m
}

func TestMachine(t *testing.T) {
	cuda, nvml, m := fakeMachine(t)
	nvml.set(t, "processes0", 2)
	r, err := m.Report()
	if err != nil || r.CUDA != "12.4" || r.Driver != "550.54.14" || len(r.Devices) != 2 || r.Unwatched != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	if u := r.Devices[0].Usage; u == nil || len(u.Processes) != 2 || u.Temperature != 61 {
		t.Errorf("device 0: %+v", u)
	}
	chosen, err := m.Choose("auto")
	if err != nil || chosen.Device.Index != 1 {
		t.Errorf("auto: %+v, %v", chosen, err)
	}
	u, err := m.Usage(chosen.Device.UUID)
	if err != nil || u.Compute != 0.37 {
		t.Errorf("%+v, %v", u, err)
	}
	// A driver may compile a kernel only on first use, so all kernels are looked up.
	good := strings.Replace(axpy, "missing", "other", 1)
	tried, err := m.Try(chosen.Device.UUID, map[string]string{"b": good, "a": good})
	if err != nil || len(tried) != 2 || tried[1].File != "b" || len(tried[1].Kernels) != 3 || tried[1].Kernels["axpy"] != (Resources{Registers: 40, Local: 30}) {
		t.Errorf("%+v, %v", tried, err)
	}
	calls := cuda.calls(t, 0)
	if last := calls[len(calls)-1]; last != "cuDevicePrimaryCtxRelease_v2 1 live=0" {
		t.Errorf("the last call was %s", last)
	}
	for text, want := range map[string]string{good + "nonsense": "wrong: load kernels: the driver's compiler refuses them: ptxas", axpy: "wrong: find kernel missing: words for 500"} {
		if _, err := m.Try(chosen.Device.UUID, map[string]string{"right": good, "wrong": text}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	if _, err := m.Open("GPU-ffff"); err == nil {
		t.Error("a GPU that is not there was opened")
	}
	started := 0
	for _, call := range cuda.calls(t, 0) {
		if strings.HasPrefix(call, "cuInit") {
			started++
		}
	}
	if started != 1 {
		t.Errorf("the driver was started %d times", started)
	}
}

// A driver that did not start in another process is not started in this one, and neither is NVML;
// without a driver, no process is started.
func TestMachineProbesFirst(t *testing.T) {
	cuda, nvml, m := fakeMachine(t)
	probed := 0
	m.options.Probe = func() error { probed++; return errors.New("it did not answer") }
	for range 2 {
		var none *Unavailable
		if _, err := m.Choose("auto"); !errors.As(err, &none) || err.Error() != "the CUDA driver does not start: it did not answer: use --device cpu" {
			t.Errorf("%v", err)
		}
		if _, err := m.Usage("GPU-0"); !errors.As(err, &none) {
			t.Errorf("%v", err)
		}
	}
	if cuda, nvml := cuda.lines(t), nvml.lines(t); probed != 1 || len(strings.Join(cuda, "")) > 0 || len(strings.Join(nvml, "")) > 0 {
		t.Errorf("asked %d times, calls %q, %q", probed, cuda, nvml)
	}

	_, _, m = fakeMachine(t)
	m.options.Probe = func() error { probed++; return nil }
	if r, err := m.Report(); err != nil || len(r.Devices) != 2 || probed != 2 {
		t.Errorf("%+v, %v, asked %d times", r, err, probed)
	}
	m = NewMachine(NativeOptions{Library: filepath.Join(t.TempDir(), "libcuda.so.1"), Probe: m.options.Probe}, 70)
	if _, err := m.Report(); err == nil || probed != 2 {
		t.Errorf("%v, asked %d times", err, probed)
	}
}

func TestMachineWithoutNVML(t *testing.T) {
	_, _, m := fakeMachine(t)
	m.nvml = filepath.Join(t.TempDir(), "libnvidia-ml.so.1")
	r, err := m.Report()
	if err != nil || r.Driver != "" || r.Devices[1].Usage != nil || r.Unwatched == nil {
		t.Errorf("%+v, %v", r, err)
	}
	var none *Unavailable
	if _, err := m.Usage(r.Devices[0].UUID); !errors.As(err, &none) {
		t.Errorf("%v", err)
	}
	if chosen, err := m.Choose("cuda:1"); err != nil || chosen.Device.Index != 1 {
		t.Errorf("%+v, %v", chosen, err)
	}
}

func TestMachineWithoutGPU(t *testing.T) {
	m := NewMachine(NativeOptions{Library: filepath.Join(t.TempDir(), "libcuda.so.1")}, 70)
	m.nvml = filepath.Join(t.TempDir(), "libnvidia-ml.so.1")
	for name, do := range map[string]func() error{
		"report": func() error { _, err := m.Report(); return err },
		"choose": func() error { _, err := m.Choose("auto"); return err },
		"open":   func() error { _, err := m.Open("GPU-0"); return err },
		"try":    func() error { _, err := m.Try("GPU-0", nil); return err },
		"usage":  func() error { _, err := m.Usage("GPU-0"); return err },
	} {
		var none *Unavailable
		if err := do(); !errors.As(err, &none) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if v, set := os.LookupEnv("CUDA_CACHE_PATH"); set && v == "" {
		t.Error("an empty folder for compiled kernels was set")
	}
}
