package driver

import "strings"

// NativeOptions say how the machine's own driver is used. The zero value is right
// for most.
type NativeOptions struct {
	// Library is the file of the CUDA driver; "": libcuda.so.1, where the system's
	// linker or one of the usual places has it.
	Library string
	// Cache is the folder for compiled kernels; "": the driver's own. A
	// CUDA_CACHE_PATH in the environment goes before it.
	Cache string
	// Say receives a line about what takes long; nil: nothing is said.
	Say func(line string)
	// Watcher knows how much memory is free without opening a device, which takes
	// time and memory; nil: devices are opened to find out.
	Watcher Watcher
	// Probe starts the driver in a process of its own and says what went wrong, before a
	// Machine starts it in this one: a driver that hangs or crashes takes its process with
	// it. nil: it is started here at once.
	Probe func() error
}

// noLibrary is the error of a machine without the driver.
func noLibrary(file, reason string) error {
	if strings.Contains(reason, "No such file") {
		reason = file + " was not found"
	}
	return &Unavailable{
		Reason: "no CUDA driver: " + reason,
		Advice: "install NVIDIA's driver, in a container start it with --gpus all, or use --device cpu",
	}
}
