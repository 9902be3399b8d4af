package cpu

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

const (
	// MaxThreads bounds what a device takes.
	MaxThreads = 64
	// mostAllowed bounds what it takes where nobody said how many.
	mostAllowed = 8
)

// Allowed is the number of CPUs that this process may use: by affinity, which
// runtime.NumCPU knows, and by the quota of its control group; at most 8.
func Allowed() int {
	n := runtime.NumCPU()
	if quota, ok := cgroupCPUs("/sys/fs/cgroup/cpu.max"); ok {
		n = min(n, quota)
	}
	return max(1, min(n, mostAllowed))
}

// cgroupCPUs reads a quota of version 2: "max 100000" or "200000 100000".
func cgroupCPUs(file string) (int, bool) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(raw))
	if len(fields) != 2 {
		return 0, false
	}
	quota, errQuota := strconv.ParseFloat(fields[0], 64)
	period, errPeriod := strconv.ParseFloat(fields[1], 64)
	if errQuota != nil || errPeriod != nil || period <= 0 {
		return 0, false
	}
	return max(1, int(quota/period+0.5)), true
}
