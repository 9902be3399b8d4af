package driver

import (
	"errors"
	"fmt"
)

// ErrConcurrent is told to the second of two goroutines that use one context.
var ErrConcurrent = errors.New("the context is used by two goroutines at once: it belongs to one")

// OutOfMemory says that a device, or the host's pinned memory, has not got what
// was asked for.
type OutOfMemory struct {
	What string // "GPU" or "pinned host"
	// Asked, Free and Total are in bytes. Asked is 0 for what the driver needs itself,
	// Total is 0 where it and Free are not known.
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

// LostDevice says that a device no longer answers, or that a failed kernel made its
// context unusable. Nothing in device memory can be read any more: a caller that holds
// a copy on the host goes on from that.
type LostDevice struct {
	Device string // its name and UUID
	Doing  string
	Reason string // in the driver's words
}

func (e *LostDevice) Error() string {
	return fmt.Sprintf("%s: %s: %s: the device is lost", e.Device, e.Doing, e.Reason)
}

// DeviceFailed marks the error as one after which the device cannot be used.
func (e *LostDevice) DeviceFailed() bool { return true }

// DeviceFailed is LostDevice's: what was to be computed next has no room.
func (e *OutOfMemory) DeviceFailed() bool { return true }

// Bytes writes a size for people: "1.5 GiB".
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

// Unavailable says that this machine has no GPU that can be used, which is no
// failure where a CPU will do.
type Unavailable struct{ Reason, Advice string }

func (e *Unavailable) Error() string { return e.Reason + ": " + e.Advice }
