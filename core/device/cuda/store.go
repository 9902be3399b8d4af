package cuda

import (
	"errors"
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/driver"
)

var _ device.Sequencer = (*Device)(nil)

// store is rows in the device's memory.
type store struct {
	device      *Device
	rows, width int
	at          driver.Ptr
	lost        int
}

// Store implements device.Sequencer.
func (d *Device) Store(rows, width int) (device.Store, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if rows < 1 || width < 1 || int64(rows) >= 1<<32 {
		return nil, fmt.Errorf("cuda: a store of %d rows of %d numbers", rows, width)
	}
	if err := d.wake(); err != nil {
		return nil, fmt.Errorf("cuda: %w", err)
	}
	s := &store{device: d, rows: rows, width: width}
	if err := s.take(); err != nil {
		return nil, fmt.Errorf("cuda: %d transitions: %w", rows, err)
	}
	d.stores[s] = struct{}{}
	return s, nil
}

func (s *store) bytes() int { return 4 * s.rows * s.width }

// take allocates the memory.
func (s *store) take() (err error) {
	s.at, err = s.device.alloc(&s.device.used.Transitions, s.bytes())
	return err
}

// leave releases the memory; its contents are lost.
func (s *store) leave() error {
	err := s.device.free(&s.device.used.Transitions, s.at, s.bytes())
	s.at = 0
	s.lost++
	return err
}

// Put is device.Store's. Before the device is parked it is done when work that comes
// after it begins.
func (s *store) Put(first int, rows []float32) error {
	d := s.device
	d.mu.Lock()
	defer d.mu.Unlock()
	if first < 0 || len(rows)%s.width != 0 || first+len(rows)/s.width > s.rows {
		return fmt.Errorf("cuda: put %d numbers from row %d on: %d rows of %d are kept", len(rows), first, s.rows, s.width)
	}
	if err := d.wake(); err != nil {
		return fmt.Errorf("cuda: %w", err)
	}
	return d.failed(d.ctx.Upload(s.at+driver.Ptr(4*first*s.width), device.Bytes(rows)))
}

// Lost implements device.Store.
func (s *store) Lost() int {
	s.device.mu.Lock()
	defer s.device.mu.Unlock()
	return s.lost
}

// Close implements device.Store.
func (s *store) Close() error {
	s.device.mu.Lock()
	defer s.device.mu.Unlock()
	if _, open := s.device.stores[s]; !open {
		return nil
	}
	delete(s.device.stores, s)
	return s.leave()
}

// freeStores releases the memory of all stores, and takeStores allocates it again.
func (d *Device) freeStores() (err error) {
	for s := range d.stores {
		err = errors.Join(err, s.leave())
	}
	return err
}

func (d *Device) takeStores() error {
	for s := range d.stores {
		if s.at == 0 {
			if err := s.take(); err != nil {
				return err
			}
		}
	}
	return nil
}
