package runflags

import (
	"cmp"
	"fmt"

	"pgrlab/core/config"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/machine"
)

// deviceName is the requested device: from a flag, else from the configuration, which says auto
// unless a preset or an earlier run says otherwise.
func (r *Flags) deviceName(c *config.Config) string {
	if r.Changed("device") || r.Device != "" && r.Device != "auto" {
		return r.Device
	}
	return cmp.Or(c.Device, "auto")
}

// settleDevice chooses where the run computes and writes it into the configuration: cpu or cuda
// and, for cuda, the precision.
func (r *Flags) settleDevice(d cli.Deps, c *config.Config) error {
	name := r.deviceName(c)
	if err := machine.DeviceFlag(name); err != nil {
		return err
	}
	precision := cmp.Or(r.precision, c.Precision, machine.Precisions[0])
	where, err := machine.FindDevice(d, name, precision, r.say)
	if err != nil && r.Resume != "" && !r.Changed("device") {
		where, err = machine.Place{Said: fmt.Sprintf("%v: goes on with the CPU", err)}, nil
	}
	if err != nil {
		return err
	}
	r.Place = where
	c.Device, c.Precision = "cpu", ""
	switch {
	case where.GPU != nil:
		c.Device, c.Precision = "cuda", precision
	case name == "cpu" && (r.precision != "" || r.GPUMem != ""):
		return fmt.Errorf("--precision and --gpu-mem are for GPUs: without --device cpu")
	}
	return nil
}

// say reports what takes long.
func (r *Flags) say(line string) {
	if r.Stderr != nil {
		fmt.Fprintln(r.Stderr(), line)
	}
}
