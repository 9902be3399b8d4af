package runflags

import (
	"cmp"
	"fmt"

	"pgrlab/core/config"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/machine"
)

// deviceName is what was asked for: by a flag, else by the configuration, which
// says auto if neither a preset nor an earlier run says more.
func (r *Flags) deviceName(c *config.Config) string {
	if r.Changed("device") || r.Device != "" && r.Device != "auto" {
		return r.Device
	}
	return cmp.Or(c.Device, "auto")
}

// settleDevice chooses where the run computes and writes it into the configuration:
// cpu or cuda, and the precision of the latter.
func (r *Flags) settleDevice(d cli.Deps, c *config.Config) error {
	name := r.deviceName(c)
	if err := machine.DeviceFlag(name); err != nil {
		return err
	}
	if c.Sees() && name != "cpu" {
		return r.settleOnCPU(c, name)
	}
	precision := cmp.Or(r.precision, c.Precision, machine.Precisions[0])
	where, err := machine.FindDevice(d, name, precision)
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

// settleOnCPU is settleDevice for a learner that sees frames: whole runs of
// those have not been tried on GPUs, though operations on images have kernels.
func (r *Flags) settleOnCPU(c *config.Config, name string) error {
	why := fmt.Sprintf("learner %s sees frames, and learning from frames runs on CPUs only", c.Agent.Learner)
	if name != "auto" {
		return fmt.Errorf("device %s: %s: use --device cpu", name, why)
	}
	r.Place = machine.Place{Said: "computes on the CPU: " + why}
	c.Device, c.Precision = "cpu", ""
	return nil
}
