//go:build !nogpu && (amd64 || arm64)

package driver

import (
	"errors"
	"path/filepath"
	"reflect"
	"testing"
)

const fakeUUID = "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f"

func TestMonitor(t *testing.T) {
	l := build(t, "fakenvml.c")
	m, err := OpenMonitor(l.path)
	if err != nil {
		t.Fatal(err)
	}
	if m.DriverVersion() != "550.54.14" {
		t.Errorf("driver %q", m.DriverVersion())
	}
	u, err := m.Usage(fakeUUID)
	want := Usage{Compute: 0.37, Used: 1 << 18, Total: 1 << 20, Temperature: 61, Power: 70.5, Processes: []Process{}}
	if err != nil || !reflect.DeepEqual(u, want) {
		t.Errorf("%+v, %v\nwant %+v", u, err, want)
	}
	l.set(t, "processes0", 2)
	l.set(t, "busy0", -1)
	l.set(t, "power0", 3) // not supported
	u, err = m.Usage(fakeUUID)
	want = Usage{Compute: -1, Used: 1 << 18, Total: 1 << 20, Temperature: 61, Power: -1, Processes: []Process{{4242, 1 << 16}, {4243, 0}}}
	if err != nil || !reflect.DeepEqual(u, want) {
		t.Errorf("%+v, %v\nwant %+v", u, err, want)
	}
	l.set(t, "list0", 3)
	if u, err = m.Usage(fakeUUID); err != nil || u.Processes != nil {
		t.Errorf("processes that NVML does not report: %v, %v", u.Processes, err)
	}
	if _, err := m.Usage("GPU-ffff"); err == nil || err.Error() != "look at GPU-ffff: Not Found (6)" {
		t.Errorf("%v", err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if _, err := m.Usage(fakeUUID); err == nil {
		t.Error("NVML is used after it was closed")
	}
	look := []string{"nvmlDeviceGetMemoryInfo 0xd0", "nvmlDeviceGetUtilizationRates 0xd0", "nvmlDeviceGetTemperature 0xd0 0",
		"nvmlDeviceGetPowerUsage 0xd0", "nvmlDeviceGetComputeRunningProcesses_v3 0xd0 room=256"}
	calls := append([]string{"nvmlInit_v2", "nvmlSystemGetDriverVersion 96", "nvmlDeviceGetHandleByUUID " + fakeUUID}, look...)
	calls = append(append(append(calls, look...), look...), "nvmlDeviceGetHandleByUUID GPU-ffff", "nvmlShutdown")
	expect(t, l.calls(t, 0), calls...)
}

// An old NVML lists processes in another form.
func TestOldMonitor(t *testing.T) {
	l := build(t, "fakenvml.c", "-DOLD")
	m, err := OpenMonitor(l.path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	u, err := m.Usage(fakeUUID)
	if want := []Process{{11, 1 << 10}, {12, 1 << 11}}; err != nil || !reflect.DeepEqual(u.Processes, want) {
		t.Errorf("%v, %v; want %v", u.Processes, err, want)
	}
}

func TestMonitorIsOptional(t *testing.T) {
	var none *Unavailable
	if _, err := OpenMonitor(filepath.Join(t.TempDir(), "libnvidia-ml.so.1")); !errors.As(err, &none) {
		t.Errorf("%v", err)
	}
	l := build(t, "fakenvml.c")
	l.set(t, "init", 9) // NVML_ERROR_DRIVER_NOT_LOADED
	if _, err := OpenMonitor(l.path); !errors.As(err, &none) || none.Reason != "start NVML: words (9)" {
		t.Errorf("%v", err)
	}
}

// With NVML, devices need not be opened to find out how much memory is free.
func TestDevicesAskTheMonitor(t *testing.T) {
	nvml := build(t, "fakenvml.c")
	m, err := OpenMonitor(nvml.path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	cuda := build(t, "fakecuda.c")
	t.Setenv("CUDA_DEVICE_ORDER", "")
	d, err := Native(NativeOptions{Library: cuda.path, Watcher: m})
	if err != nil {
		t.Fatal(err)
	}
	all, err := d.Devices()
	if err != nil || all[0].Free != 1<<20-1<<18 {
		t.Errorf("%+v, %v", all, err)
	}
	for _, call := range cuda.calls(t, 0) {
		if call == "cuDevicePrimaryCtxRetain 0" {
			t.Error("the device was opened")
		}
	}
	nvml.set(t, "processes0", 1)
	if _, err := Choose(all, "auto", 70, m); err == nil {
		t.Error("auto takes a GPU that another process uses")
	}
}
