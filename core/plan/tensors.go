package plan

import (
	"fmt"
	"io"

	"pgrlab/core/device"
	"pgrlab/core/nn"
	"pgrlab/core/op"
)

// Fetch must be called before host code reads tensors that programs of the device change, because a
// device with its own memory holds the current numbers there. On the CPU Fetch does nothing.
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

// Push must be called after host code wrote tensors that programs of the device change, and after
// it wrote weights, because a device does not read pushed tensors from the host again at each run.
// On the CPU Push does nothing.
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

// Save writes tensors as nn.Save does, with the device's current numbers.
func Save(dev device.Device, w io.Writer, tensors []*op.Tensor) error {
	if err := Fetch(dev, tensors...); err != nil {
		return err
	}
	return nn.Save(w, tensors)
}

// Load reads what Save wrote and pushes it to the device.
func Load(dev device.Device, r io.Reader, tensors []*op.Tensor) error {
	if err := nn.Load(r, tensors); err != nil {
		return err
	}
	return Push(dev, tensors...)
}

// Copy overwrites dst with src, tensors of the same sizes, also on the device.
func Copy(dev device.Device, dst, src []*op.Tensor) error {
	if err := Fetch(dev, src...); err != nil {
		return err
	}
	nn.Copy(dst, src)
	return Push(dev, dst...)
}
