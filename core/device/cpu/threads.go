package cpu

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

const (
	// MaxThreads bounds the number of threads of a device.
	MaxThreads = 64
	// mostAllowed bounds the number of threads if the caller did not specify it.
	mostAllowed = 8
)

// allotted is what Go took when the process began: its affinity, the quota of its control group and
// of those above, in both versions, and $GOMAXPROCS. The program sets another number later.
var allotted = runtime.GOMAXPROCS(0)

// Allowed is the number of CPUs that this process may use, according to its affinity and the quota
// of its control group; at most 8. Go does not take less than 2 because of a quota and rounds it
// up, so that of a container is also read here.
func Allowed() int {
	n := min(runtime.NumCPU(), allotted)
	if quota, ok := cgroupCPUs("/sys/fs/cgroup/cpu.max"); ok {
		n = min(n, quota)
	}
	return max(1, min(n, mostAllowed))
}

// cgroupCPUs reads a quota in cgroup version 2's format: "max 100000" or "200000 100000".
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
