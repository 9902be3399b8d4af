package lab

import (
	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/replica"
	"pgrlab/core/task"
)

// parts makes what a run consists of. New uses the real ones; tests use a scripted world.
type parts struct {
	replica.Parts                 // for members that have the device to themselves
	shared        []replica.Parts // by member, if some compute side by side; else nil
	turns         []int           // how many members each turn has; nil: one each
	lend          func(all bool)  // Lend of a device.Divider; nil: the shared parts keep workers of their own
	device        parker          // to be given back while the run waits; nil: there is no need
}

// newParts returns the real parts, on a device. If the device has several workers, as many
// members may compute side by side, one worker each; a last turn of fewer members has more
// workers each.
func newParts(c *config.Config, task task.Task, dev device.Device) (parts, error) {
	whole, err := replica.NewParts(c, task, dev)
	p := parts{Parts: whole, device: parkerOf(dev)}
	d, can := dev.(device.Divider)
	if err != nil || !can || d.Workers() == 1 || c.Members == 1 {
		return p, err
	}
	p.lend = d.Lend
	for left := c.Members; left > 0; {
		n := min(left, d.Workers())
		for _, part := range d.Divide(n) {
			of, err := replica.NewParts(c, task, part)
			if err != nil {
				return parts{}, err
			}
			p.shared = append(p.shared, of)
		}
		p.turns = append(p.turns, n)
		left -= n
	}
	return p, nil
}

// of returns the parts of a member.
func (p *parts) of(member int) replica.Parts {
	if p.shared == nil {
		return p.Parts
	}
	return p.shared[member]
}
