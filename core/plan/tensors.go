package plan

import (
	"fmt"
	"io"

	"pgrlab/core/device"
	"pgrlab/core/nn"
	"pgrlab/core/op"
)

// Fetch must come before host code reads tensors that programs of the device
// change: a device with memory of its own has the numbers there. On the CPU it
// does nothing.
func Fetch(dev device.Device, tensors ...*op.Tensor) error {
	m, apart := dev.(device.Mirror)
	if !apart {
		return nil
	}
	for _, t := range tensors {
		if err := m.Fetch(t.Data); err != nil {
			return fmt.Errorf("fetch %s: %w", t.Name, err)
		}
	}
	return nil
}

// Push must come after host code wrote tensors that programs of the device change,
// and after it wrote weights: what was pushed once is not read from the host at each
// run. On the CPU it does nothing.
func Push(dev device.Device, tensors ...*op.Tensor) error {
	m, apart := dev.(device.Mirror)
	if !apart {
		return nil
	}
	for _, t := range tensors {
		if err := m.Push(t.Data); err != nil {
			return fmt.Errorf("push %s: %w", t.Name, err)
		}
	}
	return nil
}

// Save writes tensors as nn.Save does, with the numbers that the device has.
func Save(dev device.Device, w io.Writer, tensors []*op.Tensor) error {
	if err := Fetch(dev, tensors...); err != nil {
		return err
	}
	return nn.Save(w, tensors)
}

// Load reads what Save wrote, also for the device.
func Load(dev device.Device, r io.Reader, tensors []*op.Tensor) error {
	if err := nn.Load(r, tensors); err != nil {
		return err
	}
	return Push(dev, tensors...)
}

// Copy overwrites dst by src, tensors of the same sizes, also for the device.
func Copy(dev device.Device, dst, src []*op.Tensor) error {
	if err := Fetch(dev, src...); err != nil {
		return err
	}
	nn.Copy(dst, src)
	return Push(dev, dst...)
}
