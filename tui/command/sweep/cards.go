package sweep

import (
	"strings"

	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/machine"
)

// allGPUs stands for all GPUs of this machine, in --device.
const allGPUs = "all"

// findDevices finds the GPUs that --device names. The grid says cuda for all jobs, so that the
// sweep can continue with other GPUs, or elsewhere.
func (f *sweepFlags) findDevices(d cli.Deps) error {
	if f.pack && (f.device != allGPUs || f.changed("jobs")) {
		return cli.Usagef("sweep: --pack is for --device all, and says how many run at a time itself: without --jobs")
	}
	if !f.changed("device") || f.device == "cpu" || f.device == "auto" || f.device == "cuda" {
		return nil
	}
	if f.on != onHere {
		return cli.Usagef("sweep: --device %s is of this machine: with --on %s it is cpu, auto or cuda", f.device, f.on)
	}
	if f.device == allGPUs {
		why := "not part of this build"
		if d.GPUs != nil {
			found := d.GPUs()
			why = found.Error
			for _, g := range found.Found {
				f.devices = append(f.devices, g.Device())
				f.free = append(f.free, g.Free)
			}
		}
		if len(f.devices) == 0 {
			if why == "" {
				why = "none was found"
			}
			if !strings.Contains(why, "--device cpu") {
				why += ": use --device cpu"
			}
			return cli.Usagef("sweep: --device all: there are no GPUs: %s", why)
		}
	} else {
		for name := range strings.SplitSeq(f.device, ",") {
			if err := machine.DeviceFlag(name); err != nil {
				return cli.AsUsage(err)
			}
			if name == "cpu" || name == "auto" || name == "cuda" {
				return cli.Usagef("sweep: --device %s: %s names no GPU: want for example cuda:0,cuda:1", f.device, name)
			}
			f.devices = append(f.devices, name)
		}
	}
	f.device = "cuda"
	return nil
}
