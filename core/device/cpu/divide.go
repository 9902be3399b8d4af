package cpu

import (
	"sync"
	"sync/atomic"

	"pgrlab/core/device"
)

// crew is the workers that run a device's programs.
type crew struct {
	pool *pool // the device's own
	// For a device that is a part of another one: the whole device's workers, and whether programs
	// may use them now.
	whole *pool
	lent  *atomic.Bool
}

// mostParts returns the largest number of parts that lanes are cut into.
func (c *crew) mostParts() int {
	if c.whole != nil {
		return max(c.whole.mostParts(), c.pool.mostParts())
	}
	return c.pool.mostParts()
}

// divisions holds the parts that were requested of a device, keyed by their number; several runs on
// one device share the same division.
type divisions struct {
	mu   sync.Mutex
	of   map[int][]device.Device
	lent atomic.Bool
}

// Workers implements device.Divider.
func (d *Device) Workers() int { return d.Threads() }

// Lend implements device.Divider.
func (d *Device) Lend(all bool) { d.divisions.lent.Store(all) }

// Divide implements device.Divider. If n does not divide the number of workers, the first parts
// have one more.
func (d *Device) Divide(n int) []device.Device {
	all := d.Threads()
	if n < 1 || n > all {
		return nil
	}
	if n == 1 {
		return []device.Device{d}
	}
	d.divisions.mu.Lock()
	defer d.divisions.mu.Unlock()
	if made := d.divisions.of[n]; made != nil {
		return made
	}
	parts := make([]device.Device, n)
	for i := range parts {
		workers := all / n
		if i < all%n {
			workers++
		}
		own := crew{pool: newPool(workers, d.mostParts()), whole: d.pool, lent: &d.divisions.lent}
		parts[i] = &Device{kernels: d.kernels, crew: own, leastShare: d.leastShare}
	}
	if d.divisions.of == nil {
		d.divisions.of = map[int][]device.Device{}
	}
	d.divisions.of[n] = parts
	return parts
}

// close ends the workers of all parts.
func (s *divisions) close() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, parts := range s.of {
		for _, p := range parts {
			err = p.(*Device).Close()
		}
	}
	s.of = nil
	return err
}
