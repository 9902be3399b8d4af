package driver

import "fmt"

// OutOfMemory says that a device, or the host's pinned memory, has not got what
// was asked for.
type OutOfMemory struct {
	What string // "GPU" or "pinned host"
	// Asked, Free and Total are in bytes; Free and Total are 0 where they are not
	// known.
	Asked, Free, Total uint64
}

func (e *OutOfMemory) Error() string {
	if e.Total == 0 {
		return fmt.Sprintf("%s memory: %s asked, and there is not as much: close other programs or make the run smaller", e.What, Bytes(e.Asked))
	}
	return fmt.Sprintf("%s memory: %s asked, %s of %s free: close other programs on it or make the run smaller (--gpu-mem)",
		e.What, Bytes(e.Asked), Bytes(e.Free), Bytes(e.Total))
}

// LostDevice says that a device no longer answers, or that a failed kernel made its
// context unusable. Nothing in device memory can be read any more: whoever holds
// a copy on the host goes on from that.
type LostDevice struct {
	Device string // its name and UUID
	Doing  string
	Reason string // in the driver's words
}

func (e *LostDevice) Error() string {
	return fmt.Sprintf("%s: %s: %s: the device is lost; resume the run from its last checkpoint", e.Device, e.Doing, e.Reason)
}

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
