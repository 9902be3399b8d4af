package driver

import (
	"errors"
	"fmt"
)

// ErrConcurrent is returned to the second of two goroutines that use one context at once.
var ErrConcurrent = errors.New("the context is used by two goroutines at once: it belongs to one")

// OutOfMemory reports that a device, or the host's pinned memory, does not have the requested
// memory.
type OutOfMemory struct {
	What string // "GPU" or "pinned host"
	// Asked, Free and Total are in bytes. Asked is 0 for memory that the driver itself needs; Total
	// is 0 if it and Free are not known.
	Asked, Free, Total uint64
}

func (e *OutOfMemory) Error() string {
	text := e.What + " memory: "
	if e.Asked > 0 {
		text += Bytes(e.Asked) + " asked, "
	} else {
		text += "too little for the driver, "
	}
	if e.Total > 0 {
		text += fmt.Sprintf("%s of %s free", Bytes(e.Free), Bytes(e.Total))
	} else {
		text += "not as much is free"
	}
	return text + ": close other programs or make the run smaller (--gpu-mem)"
}

// LostDevice reports that a device no longer answers, or that a failed kernel made its context
// unusable. Device memory can no longer be read: a caller with a copy on the host continues from
// that copy.
type LostDevice struct {
	Device string // its name and UUID
	Doing  string
	Reason string // the driver's message
}

func (e *LostDevice) Error() string {
	return fmt.Sprintf("%s: %s: %s: the device is lost", e.Device, e.Doing, e.Reason)
}

// DeviceFailed marks this error as one after which the device cannot be used.
func (e *LostDevice) DeviceFailed() bool { return true }

// DeviceFailed is as for LostDevice: there is no room for the next computation.
func (e *OutOfMemory) DeviceFailed() bool { return true }

// Bytes formats a size for people: "1.5 GiB".
func Bytes(n uint64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	size, names := float64(n)/unit, []string{"KiB", "MiB", "GiB", "TiB"}
	for size >= unit && len(names) > 1 {
		size, names = size/unit, names[1:]
	}
	return fmt.Sprintf("%.4g %s", size, names[0])
}

// Unavailable reports that this machine has no usable GPU, which is not a failure if a CPU will do.
type Unavailable struct{ Reason, Advice string }

func (e *Unavailable) Error() string { return e.Reason + ": " + e.Advice }
