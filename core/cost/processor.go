package cost

import (
	"time"

	"golang.org/x/sys/unix"
)

// ProcessTime is the processor time of this process so far; −1 if unknown.
func ProcessTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return -1
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
