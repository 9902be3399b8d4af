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
	at          driver.Ptr // 0: the rows are lost, and no memory is held
	lost        int
	yields      bool // its memory is given up for anything else
}

// Store implements device.Sequencer.
func (d *Device) Store(rows, width int) (device.Store, error) {
	return d.newStore(&store{device: d, rows: rows, width: width}, "transitions")
}

// Cache implements device.Sequencer.
func (d *Device) Cache(rows, width int) (device.Store, error) {
	return d.newStore(&store{device: d, rows: rows, width: width, yields: true}, "frames")
}

func (d *Device) newStore(s *store, of string) (device.Store, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.rows < 1 || s.width < 1 || int64(s.rows) >= 1<<32 {
		return nil, fmt.Errorf("cuda: a store of %d rows of %d numbers", s.rows, s.width)
	}
	if err := d.wake(); err != nil {
		return nil, fmt.Errorf("cuda: %w", err)
	}
	if err := s.take(); err != nil {
		return nil, fmt.Errorf("cuda: %d %s: %w", s.rows, of, err)
	}
	d.stores[s] = struct{}{}
	return s, nil
}

func (s *store) bytes() int { return 4 * s.rows * s.width }

// account is where the memory is counted.
func (s *store) account() *uint64 {
	if s.yields {
		return &s.device.used.Frames
	}
	return &s.device.used.Transitions
}

// take allocates the memory. A store that yields takes only what is free: two of them would else take
// it from each other in turn.
func (s *store) take() (err error) {
	alloc := s.device.alloc
	if s.yields {
		alloc = s.device.allocFree
	}
	s.at, err = alloc(s.account(), s.bytes())
	return err
}

// leave releases the memory; its contents are lost.
func (s *store) leave() error {
	err := s.device.free(s.account(), s.at, s.bytes())
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
	if s.at == 0 {
		if err := s.take(); err != nil {
			return fmt.Errorf("cuda: %d rows: %w", s.rows, err)
		}
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

// yield releases the memory of all stores that yield, and says whether there was any. Programs that
// read them are bound again at their next run.
func (d *Device) yield() (freed bool, err error) {
	for s := range d.stores {
		if s.yields && s.at != 0 {
			freed, err = true, errors.Join(err, s.leave())
		}
	}
	if freed {
		d.epoch++
	}
	return freed, err
}

// yielding does work that takes memory, and does it again without the stores that yield if there was
// not enough.
func (d *Device) yielding(work func() error) error {
	err := work()
	if full := (*device.OutOfMemory)(nil); err == nil || !errors.As(err, &full) {
		return err
	}
	if freed, e := d.yield(); !freed || e != nil {
		return errors.Join(err, e)
	}
	return work()
}

// freeStores releases the memory of all stores, and takeStores allocates it again for those that do
// not yield.
func (d *Device) freeStores() (err error) {
	for s := range d.stores {
		err = errors.Join(err, s.leave())
	}
	return err
}

func (d *Device) takeStores() error {
	for s := range d.stores {
		if s.at == 0 && !s.yields {
			if err := s.take(); err != nil {
				return err
			}
		}
	}
	return nil
}
