package program

import (
	"os"
	"runtime"

	"pgrlab/core/device/cpu"
	"pgrlab/core/device/cpu/kernel"
	"pgrlab/tui/command/cli"
)

// newDevice starts a GPU or the CPU. The CPU's kernels cannot be preempted, so screen, collector
// and garbage collector get two threads of their own in addition to the workers.
func newDevice(r cli.DeviceRequest) (cli.Device, error) {
	if r.GPU != nil {
		return newGPU(r)
	}
	d, err := cpu.New(cpu.Options{Threads: r.Threads})
	if err != nil {
		return nil, err
	}
	all := r.Threads // environments use what the programs leave
	if all == 0 {
		all = cpu.Allowed()
	}
	runtime.GOMAXPROCS(all + 2)
	return d, nil
}

func kernels() cli.Kernels {
	k := cli.Kernels{Available: kernel.Available(), Why: "the quickest that this CPU runs"}
	if os.Getenv("PGRLAB_KERNELS") != "" {
		k.Why = "from $PGRLAB_KERNELS"
	}
	family, err := kernel.Select("")
	if err != nil {
		k.Error = err.Error()
		return k
	}
	k.Family = family.Name()
	return k
}
