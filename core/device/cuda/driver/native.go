package driver

import "strings"

// NativeOptions say how to use the machine's own driver. The zero value is usually right.
type NativeOptions struct {
	// Library is the file of the CUDA driver; "": libcuda.so.1, found by the system's linker or in
	// one of the usual places.
	Library string
	// Cache is the folder for compiled kernels; "": the driver's own. A CUDA_CACHE_PATH in the
	// environment takes precedence.
	Cache string
	// Say receives a line about slow work; nil: nothing is reported.
	Say func(line string)
	// Watcher reports how much memory is free without opening a device, which takes time and memory;
	// nil: devices are opened to find out.
	Watcher Watcher
	// Probe starts the driver in a separate process and reports what went wrong, before a Machine
	// starts it in this one: a driver that hangs or crashes takes its process with it. nil: the
	// driver is started in this process immediately.
	Probe func() error
}

// noLibrary returns the error for a machine without the driver.
func noLibrary(file, reason string) error {
	if strings.Contains(reason, "No such file") {
		reason = file + " was not found"
	}
	return &Unavailable{
		Reason: "no CUDA driver: " + reason,
		Advice: "install NVIDIA's driver, in a container start it with --gpus all, or use --device cpu",
	}
}
