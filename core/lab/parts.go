package lab

import (
	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/replica"
	"pgrlab/core/task"
)

// parts makes what a run consists of. New uses the real ones, tests a scripted world.
type parts struct {
	replica.Parts                 // of members that have the device to themselves
	shared        []replica.Parts // of each member, where some compute side by side; else nil
	turns         []int           // how many members have each turn; nil: each member has its own
	lend          func(all bool)  // device.Divider's; nil: shared have workers of their own for ever
	device        parker          // can be given back while the run waits; nil: there is no need
}

// newParts are the real ones, on a device. Where it has several workers, so many members may
// compute side by side, on one each; members that are left have more of them.
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

// of are those of a member.
func (p *parts) of(member int) replica.Parts {
	if p.shared == nil {
		return p.Parts
	}
	return p.shared[member]
}
