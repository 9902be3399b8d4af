//go:build !nogpu && (amd64 || arm64)

package driver

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Monitor is NVML, NVIDIA's management library, opened at run time. It is safe for
// use by several goroutines, and needs no context on a device.
type Monitor struct {
	symbols map[string]uintptr
	version string

	mu      sync.Mutex
	closed  bool
	devices map[string]uintptr // by UUID
	cells   *monitorCells
}

// monitorCells holds the values that NVML returns.
type monitorCells struct {
	handle    uintptr
	number    uint32
	rates     [2]uint32 // utilisation of compute, of memory traffic
	memory    [3]uint64 // total, free, used
	count     uint32
	text      [96]byte
	processes [maxProcesses]processInfo
}

// processInfo is nvmlProcessInfo_v2_t; version 1 of the struct ends after memory.
type processInfo struct {
	pid    uint32
	_      uint32
	memory uint64
	_, _   uint32 // MIG instances
}

const maxProcesses = 256

// nvmlSuccess is what NVML's functions return on success.
const nvmlSuccess = 0

// OpenMonitor opens NVML; file "" means libnvidia-ml.so.1. A machine can have GPUs without NVML;
// then nothing is known about other processes.
func OpenMonitor(file string) (*Monitor, error) {
	if file == "" {
		file = "libnvidia-ml.so.1"
	}
	handle, err := dlopen(file)
	if err != nil {
		reason := strings.TrimSpace(err.Error())
		if strings.Contains(reason, "No such file") {
			reason = file + " was not found"
		}
		return nil, &Unavailable{Reason: "no NVML: " + reason, Advice: "it comes with NVIDIA's driver; nothing is known of other processes and of the GPU's load"}
	}
	m := &Monitor{symbols: map[string]uintptr{}, devices: map[string]uintptr{}, cells: newMonitorCells()}
	for _, name := range []string{
		"nvmlInit_v2", "nvmlShutdown", "nvmlErrorString", "nvmlSystemGetDriverVersion", "nvmlDeviceGetHandleByUUID",
		"nvmlDeviceGetUtilizationRates", "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetTemperature", "nvmlDeviceGetPowerUsage",
		"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses",
	} {
		if at, err := purego.Dlsym(handle, name); err == nil {
			m.symbols[name] = at
		}
	}
	if r := m.call("nvmlInit_v2"); r != nvmlSuccess {
		return nil, &Unavailable{Reason: "start NVML: " + m.words(r), Advice: "check nvidia-smi; nothing is known of other processes and of the GPU's load"}
	}
	if m.call("nvmlSystemGetDriverVersion", at(&m.cells.text), uintptr(len(m.cells.text))) == nvmlSuccess {
		m.version, _, _ = strings.Cut(string(m.cells.text[:]), "\x00")
	}
	return m, nil
}

//go:noinline
func newMonitorCells() *monitorCells { return new(monitorCells) }

// notFound is what call returns for a function that this version of NVML lacks.
const notFound = 13 // NVML_ERROR_FUNCTION_NOT_FOUND

func (m *Monitor) call(name string, args ...uintptr) int {
	f := m.symbols[name]
	if f == 0 {
		return notFound
	}
	r, _, _ := purego.SyscallN(f, args...)
	return int(uint32(r))
}

// words returns NVML's description of a result.
func (m *Monitor) words(r int) string {
	if f := m.symbols["nvmlErrorString"]; f != 0 {
		if p, _, _ := purego.SyscallN(f, uintptr(r)); p != 0 {
			return fmt.Sprintf("%s (%d)", goString(*(*unsafe.Pointer)(unsafe.Pointer(&p))), r)
		}
	}
	return fmt.Sprintf("NVML error %d", r)
}

// DriverVersion returns the driver's own version: 550.54.14; "" if unknown.
func (m *Monitor) DriverVersion() string { return m.version }

// Usage returns what a device is doing now.
func (m *Monitor) Usage(uuid string) (Usage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return Usage{}, fmt.Errorf("look at %s: NVML is closed", uuid)
	}
	device, err := m.device(uuid)
	if err != nil {
		return Usage{}, err
	}
	u, c := Usage{Compute: -1, Temperature: -1, Power: -1}, m.cells
	if m.call("nvmlDeviceGetMemoryInfo", device, at(&c.memory)) == nvmlSuccess {
		u.Total, u.Used = c.memory[0], c.memory[2]
	}
	if m.call("nvmlDeviceGetUtilizationRates", device, at(&c.rates)) == nvmlSuccess {
		u.Compute = float64(c.rates[0]) / 100
	}
	const ofTheChip = 0 // NVML_TEMPERATURE_GPU
	if m.call("nvmlDeviceGetTemperature", device, ofTheChip, at(&c.number)) == nvmlSuccess {
		u.Temperature = float64(c.number)
	}
	if m.call("nvmlDeviceGetPowerUsage", device, at(&c.number)) == nvmlSuccess {
		u.Power = float64(c.number) / 1000 // NVML gives milliwatts
	}
	u.Processes = m.processes(device)
	return u, nil
}

// device returns NVML's handle of a device.
func (m *Monitor) device(uuid string) (uintptr, error) {
	if d, known := m.devices[uuid]; known {
		return d, nil
	}
	name := cString(uuid)
	r := m.call("nvmlDeviceGetHandleByUUID", at(&name[0]), at(&m.cells.handle))
	runtime.KeepAlive(name)
	if r != nvmlSuccess {
		return 0, fmt.Errorf("look at %s: %s", uuid, m.words(r))
	}
	m.devices[uuid] = m.cells.handle
	return m.cells.handle, nil
}

// processes returns the processes that compute on a device; nil if NVML does not say.
func (m *Monitor) processes(device uintptr) []Process {
	for _, name := range []string{"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses"} {
		m.cells.count = maxProcesses
		r := m.call(name, device, at(&m.cells.count), at(&m.cells.processes))
		if r == notFound {
			continue
		}
		if r != nvmlSuccess {
			return nil
		}
		stride := unsafe.Sizeof(processInfo{})
		if !strings.Contains(name, "_v") {
			stride = unsafe.Offsetof(processInfo{}.memory) + 8
		}
		all := []Process{} // not nil: it is known that there are none
		for i := range min(m.cells.count, maxProcesses) {
			p := (*processInfo)(unsafe.Add(unsafe.Pointer(&m.cells.processes), uintptr(i)*stride))
			if isMPSServer(int(p.pid)) {
				continue
			}
			known := p.memory
			if known == 1<<64-1 { // NVML_VALUE_NOT_AVAILABLE
				known = 0
			}
			all = append(all, Process{PID: int(p.pid), Memory: known})
		}
		return slices.Clip(all)
	}
	return nil
}

// isMPSServer says whether a process is the server through which others share a device (MPS). NVML lists it among
// those that compute, also while none of them does.
func isMPSServer(pid int) bool {
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))   // it may have ended
	return strings.TrimSpace(string(name)) == "nvidia-cuda-mps" // the kernel keeps 15 letters of nvidia-cuda-mps-server
}

// Close closes NVML.
func (m *Monitor) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	if r := m.call("nvmlShutdown"); r != nvmlSuccess {
		return fmt.Errorf("close NVML: %s", m.words(r))
	}
	return nil
}
