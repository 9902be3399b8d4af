//go:build nogpu || !linux || !(amd64 || arm64)

package driver

import "runtime"

// Native says that this program was built without the driver.
func Native(NativeOptions) (Driver, error) { return nil, without() }

func installed(string) bool { return false }

// OpenMonitor says that this program was built without the driver.
func OpenMonitor(string) (*Monitor, error) { return nil, without() }

func without() error {
	if runtime.GOOS == "linux" && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64") {
		return &Unavailable{Reason: "this pgrlab was built without GPUs (-tags nogpu)", Advice: "use the ordinary build, or --device cpu"}
	}
	return &Unavailable{Reason: "GPUs are used on Linux only (amd64, arm64)", Advice: "use --device cpu"}
}

// Monitor stands for NVML, which this program was built without.
type Monitor struct{}

// Usage says that this program was built without NVML.
func (*Monitor) Usage(string) (Usage, error) { return Usage{}, without() }

// DriverVersion returns "": the version is unknown.
func (*Monitor) DriverVersion() string { return "" }

// Close does nothing.
func (*Monitor) Close() error { return nil }
