package bench

import (
	"strings"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/device/cuda"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/device/cuda/kernel"
)

func reference(t *testing.T) *cpu.Device {
	t.Helper()
	dev, err := cpu.New(cpu.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return dev
}

// The emulated GPU agrees with the CPU within what TF32 rounds away, and not
// without it.
func TestTheEmulatedGPUAgrees(t *testing.T) {
	machine := driver.Emulated(driver.EmulatedOptions{Unchecked: true})
	dev, err := cuda.New(func() (driver.Context, error) { return machine.Open(0) }, cuda.Options{Precision: kernel.TF32})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if err := Agree(dev, reference(t), 4e-3); err != nil {
		t.Error(err)
	}
	if err := Agree(dev, reference(t), 1e-7); err == nil || !strings.Contains(err.Error(), "a product of 256×512×512: off by") {
		t.Errorf("TF32 within a float32's rounding: %v", err)
	}
}

// crooked is a CPU with one wrong number in every result.
type crooked struct{ *cpu.Device }

type bent struct{ device.Executable }

func (c crooked) Compile(p *device.Program) (device.Executable, error) {
	x, err := c.Device.Compile(p)
	return bent{x}, err
}

func (b bent) Data(r device.Ref) []float32 {
	data := append([]float32(nil), b.Executable.Data(r)...)
	data[len(data)/2] += 1
	return data
}

func TestAWrongNumberIsFound(t *testing.T) {
	dev := reference(t)
	if err := Agree(dev, dev, 1e-6); err != nil {
		t.Error(err)
	}
	if err := Agree(crooked{dev}, dev, 4e-3); err == nil || !strings.Contains(err.Error(), "the losses of a small network: off by 1") {
		t.Errorf("%v", err)
	}
}
