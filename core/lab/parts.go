package lab

import (
	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/replica"
	"pgrlab/core/task"
)

// parts makes what a run consists of. New uses the real ones, tests a scripted world.
type parts struct {
	replica.Parts
	device parker // can be given back while the run waits; nil: there is no need
}

// newParts are the real ones, on a device.
func newParts(c *config.Config, task task.Task, dev device.Device) (parts, error) {
	p, err := replica.NewParts(c, task, dev)
	return parts{p, parkerOf(dev)}, err
}
