package cuda

import (
	"errors"
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/driver"
)

// Memory is the memory that programs use on the GPU, in bytes.
type Memory struct {
	Tensors     uint64 // parameters, moments, averages: tensors that outlive runs
	Transitions uint64 // stores from which batches are sampled
	Frames      uint64 // stores of frames, which are given up when anything else needs the memory
	Programs    uint64 // batches and results of each program
	Workspace   uint64 // what programs make and use themselves, shared by all
	Limit       uint64 // limit of the sum; 0: only the GPU's own
}

// Total is the sum.
func (m Memory) Total() uint64 {
	return m.Tensors + m.Transitions + m.Frames + m.Programs + m.Workspace
}

func (m Memory) String() string {
	limit := ""
	if m.Limit > 0 {
		limit = " of at most " + driver.Bytes(m.Limit)
	}
	transitions := ""
	if m.Transitions > 0 {
		transitions = "transitions " + driver.Bytes(m.Transitions) + ", "
	}
	if m.Frames > 0 {
		transitions += "frames " + driver.Bytes(m.Frames) + ", "
	}
	return fmt.Sprintf("%s%s of GPU memory: networks %s, %sbatches and results %s, workspace %s",
		driver.Bytes(m.Total()), limit, driver.Bytes(m.Tensors), transitions, driver.Bytes(m.Programs), driver.Bytes(m.Workspace))
}

// Memory returns the memory used by the programs compiled so far.
func (d *Device) Memory() Memory {
	d.mu.Lock()
	defer d.mu.Unlock()
	used := d.used
	used.Limit = d.options.Memory
	return used
}

// Taken returns the total of Memory, in bytes.
func (d *Device) Taken() uint64 { return d.Memory().Total() }

// alloc allocates memory within the limit and adds it to one of the accounts in d.used. If there is
// not enough, it takes that of stores that yield.
func (d *Device) alloc(account *uint64, bytes int) (p driver.Ptr, err error) {
	err = d.yielding(func() error {
		p, err = d.allocFree(account, bytes)
		return err
	})
	return p, err
}

// allocFree is alloc of memory that is free.
func (d *Device) allocFree(account *uint64, bytes int) (driver.Ptr, error) {
	need := uint64(padded(bytes))
	if limit := d.options.Memory; limit > 0 && d.used.Total()+need > limit {
		return 0, &device.OutOfMemory{Asked: need, Free: limit - min(limit, d.used.Total()), Total: limit,
			Err: fmt.Errorf("GPU memory: %s asked, and the limit of %s leaves %s: make the run smaller or --gpu-mem larger",
				driver.Bytes(need), driver.Bytes(limit), driver.Bytes(limit-min(limit, d.used.Total())))}
	}
	p, err := d.ctx.Alloc(int(need))
	if err != nil {
		return 0, d.failed(err)
	}
	*account += need
	return p, nil
}

func (d *Device) free(account *uint64, p driver.Ptr, bytes int) error {
	if p == 0 {
		return nil
	}
	*account -= uint64(padded(bytes))
	if d.gone() {
		return nil
	}
	return d.ctx.Free(p)
}

// work makes the workspace at least as large as requested. This invalidates graphs that were
// captured before, even if there is no memory for a larger workspace.
func (d *Device) work(bytes int) error {
	if uint64(bytes) <= d.used.Workspace {
		return nil
	}
	d.epoch++
	if err := d.freeWorkspace(); err != nil {
		return err
	}
	p, err := d.alloc(&d.used.Workspace, bytes)
	if err != nil {
		return err
	}
	d.workspace = p
	return nil
}

func (d *Device) freeWorkspace() error {
	if d.workspace == 0 {
		return nil
	}
	err := d.free(&d.used.Workspace, d.workspace, int(d.used.Workspace))
	d.workspace = 0
	return err
}

// memory is the device's memory as Residents uses it.
type memory struct{ d *Device }

func (m memory) Alloc(elements int) (driver.Ptr, error) {
	return m.d.alloc(&m.d.used.Tensors, 4*elements)
}

func (m memory) Free(p driver.Ptr, elements int) error {
	return m.d.free(&m.d.used.Tensors, p, 4*elements)
}

func (m memory) Upload(to driver.Ptr, from []float32) error {
	return m.d.failed(m.d.ctx.Upload(to, device.Bytes(from)))
}

func (m memory) Download(to []float32, from driver.Ptr) error {
	if m.d.lost != nil {
		return m.d.lost
	}
	if err := m.d.ctx.Download(device.Bytes(to), from); err != nil {
		return m.d.failed(err)
	}
	return m.d.failed(m.d.ctx.Synchronize())
}

// Park brings all tensors to the host and releases the GPU, including its context. The next run
// takes the GPU again. Programs remain. If a tensor cannot be brought, the GPU stays taken, because
// the newest numbers are only there.
func (d *Device) Park() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx == nil {
		return d.lost
	}
	err := errors.Join(d.unbind(), d.residents.Park())
	if d.lost == nil && !d.residents.Parked() {
		return err
	}
	err = errors.Join(err, d.freeStores(), d.freeWorkspace(), d.ctx.Close())
	d.ctx = nil
	d.epoch++
	return err
}

// Wake takes the GPU again after Park, as the next run would.
func (d *Device) Wake() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.wake()
}

// wake takes the GPU again if it is parked.
func (d *Device) wake() error {
	if d.lost != nil {
		return d.lost
	}
	if d.ctx != nil {
		return nil
	}
	if err := d.begin(); err != nil {
		return fmt.Errorf("cuda: take the GPU again: %w", err)
	}
	err := d.residents.Wake()
	if err == nil {
		err = d.takeStores()
	}
	if err != nil { // parked as before
		err = errors.Join(err, d.residents.Drop(), d.freeStores(), d.ctx.Close())
		d.ctx = nil
		return fmt.Errorf("cuda: take the GPU again: %w", err)
	}
	return nil
}
