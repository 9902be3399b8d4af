package bench

import (
	"math"
	"os"
	"strings"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/device/cuda"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/device/cuda/kernel"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/emulator"
)

var _ Tiled = (*cuda.Device)(nil)

// emulated returns an interpreted GPU.
func emulated(t *testing.T, precision kernel.Precision) *cuda.Device {
	t.Helper()
	machine := emulator.New(emulator.Options{Unchecked: true})
	dev, err := cuda.New(func() (driver.Context, error) { return machine.Open(0) }, cuda.Options{Precision: precision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return dev
}

// The emulated GPU agrees with the CPU within the rounding of TF32, but not within less. All tiles
// are compared, and a wrong one is detected. The large ones are interpreted with PGRLAB_SOAK=1, and
// in the tests of package cuda.
func TestTheEmulatedGPUAgrees(t *testing.T) {
	dev, on := emulated(t, kernel.TF32), cputest.New(t, cpu.Options{Threads: 1})
	tiles := dev.Tiles()
	if len(tiles) != 7 || tiles[0].Name != "TF32_128x256" || tiles[6].Name != "16x32" {
		t.Errorf("tiles %+v", tiles)
	}
	for _, tile := range tiles {
		if tile.N > 64 {
			continue
		}
		if err := AgreeTile(dev, on, tile, 1); err != nil {
			t.Error(err)
		}
	}
	tensor := tiles[2]
	if err := AgreeTile(bentTile{dev}, on, tensor, 1); err == nil || !strings.Contains(err.Error(), "tile TF32_64x64: a layer of 64×64×64: its result: off by 1") {
		t.Errorf("%v", err)
	}
	dev.UseTile(tensor.Name)
	err := (Layer{1, 64, 64, 64}).Agree(dev, on, func(x float32) float32 { return x }, productBound)
	if err == nil || !strings.Contains(err.Error(), "a layer of 64×64×64: its result: off by") {
		t.Errorf("TF32 within a float32's rounding: %v", err)
	}
	got, err := imageLosses(dev)
	if err != nil {
		t.Fatal(err)
	}
	want, err := imageLosses(on)
	if err != nil {
		t.Fatal(err)
	}
	if err := near("images", got, want, 1e-5); err != nil || want[0] == want[2] {
		t.Errorf("losses %v, want %v: %v", got, want, err)
	}
	if os.Getenv("PGRLAB_SOAK") == "" {
		return
	}
	if err := Agree(dev, on); err != nil {
		t.Error(err)
	}
}

// bentTile is a GPU whose results each contain one wrong number.
type bentTile struct{ *cuda.Device }

func (b bentTile) Compile(p *device.Program) (device.Executable, error) {
	x, err := b.Device.Compile(p)
	return bent{x}, err
}

// crooked is a CPU whose results each contain one wrong number.
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
	dev := cputest.New(t, cpu.Options{Threads: 1})
	if err := Agree(dev, dev); err != nil {
		t.Error(err)
	}
	if err := Agree(crooked{dev}, dev); err == nil || !strings.Contains(err.Error(), "the losses of a small network: off by 1") {
		t.Errorf("%v", err)
	}
}

// A number that is not a number is further off than any other, whatever comes after it.
func TestNaNIsNotNear(t *testing.T) {
	nan := float32(math.NaN())
	for _, got := range [][]float32{{1, nan, 1}, {9, nan, 1}, {nan, 1, 9}, {1, 1, nan}} {
		if err := near("x", got, []float32{1, 1, 1}, 1e-5); err == nil || !strings.Contains(err.Error(), "off by +Inf") {
			t.Errorf("%v: %v", got, err)
		}
	}
	if err := near("x", []float32{1, 1, 1}, []float32{1, 1, 1}, 1e-5); err != nil {
		t.Error(err)
	}
}
