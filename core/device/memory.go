package device

import "fmt"

// OutOfMemory reports that a device does not have the memory that a program needs. Asked, Free and
// Total are in bytes. A caller that has a choice, such as the number of rows in a chunk, tries
// again with less.
type OutOfMemory struct {
	Asked, Free, Total uint64
	Err                error // in the device's words
}

func (e *OutOfMemory) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return fmt.Sprintf("device memory: %d bytes asked, %d of %d free", e.Asked, e.Free, e.Total)
}

func (e *OutOfMemory) Unwrap() error { return e.Err }

// DeviceFailed marks the error as one after which the device cannot be used.
func (e *OutOfMemory) DeviceFailed() bool { return true }
