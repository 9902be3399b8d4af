package cuda

import (
	"cmp"
	"fmt"
	"testing"

	"pgrlab/core/bench"
	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/device/cuda/kernel"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/emulator"
	"pgrlab/core/testing/ptx"
)

// sizesOf returns the layers on which a tile is tried: one that does not consist of whole tiles, and
// one that does. On a GPU they include one of two tiles in each dimension and one as large as those of
// the paper's denoiser in a chunk of sampling, which would take the interpreter an hour.
func sizesOf(tile kernel.Tile) []bench.Layer {
	all := []bench.Layer{
		{Members: 2, Rows: tile.M + 1, In: tile.N + 3, Out: tile.K + 5},
		{Members: 1, Rows: 2 * tile.M, In: tile.N, Out: 2 * tile.K},
	}
	if onGPU {
		all = append(all, bench.Layer{Members: 1, Rows: 2 * tile.M, In: 2 * tile.N, Out: 2 * tile.N}, bench.Layer{Members: 10, Rows: 256, In: 90, Out: 256}, bench.Layer{Members: 10, Rows: 256, In: 256, Out: 256}, bench.Layer{Members: 1, Rows: 4096, In: 2048, Out: 2048})
	}
	return all
}

// hopper is a GPU, or without one an emulated one that has all tiles.
func hopper(t *testing.T, o Options) *Device {
	if onGPU {
		return card(t, o)
	}
	info := driver.Info{Name: "emulated GPU", Capability: [2]int{9, 0}, Memory: 4 << 30, Processors: 4, SharedPerBlock: 227 << 10}
	return emulated(t, emulator.Options{Devices: []driver.Info{info}, Unchecked: true}, o)
}

// eachPrecision goes through the precisions by name, with the tiles that only this precision has.
func eachPrecision(t *testing.T, do func(t *testing.T, dev *Device, tiles []kernel.Tile)) {
	for _, precision := range []kernel.Precision{kernel.FP32, kernel.TF32, kernel.BF16} {
		t.Run(precision.String(), func(t *testing.T) {
			dev := hopper(t, Options{Precision: precision})
			var tiles []kernel.Tile
			for _, tile := range dev.Tiles() {
				if of := kernel.Tiles(kernel.Target{SM: dev.sm()}); precision != kernel.FP32 && len(tiles) == len(dev.Tiles())-len(of) {
					break // the remaining tiles are those of float32
				}
				tiles = append(tiles, tile)
			}
			do(t, dev, tiles)
		})
	}
}

// quick is the fastest CPU device that this machine has.
func quick(t *testing.T) device.Device {
	t.Helper()
	return cputest.New(t, cpu.Options{})
}

// Every tile of every layout in every precision agrees with the CPU, on numbers that the precision
// can represent, so that only the order of the sums differs.
func TestTiles(t *testing.T) {
	on := quick(t)
	eachPrecision(t, func(t *testing.T, dev *Device, tiles []kernel.Tile) {
		for _, tile := range tiles {
			t.Run(tile.Name, func(t *testing.T) {
				dev.UseTile(tile.Name)
				defer dev.UseTile("")
				for _, l := range sizesOf(tile) {
					if err := l.Agree(dev, on, dev.Precision().Round, bench.BoundOf(dev.Precision())); err != nil {
						t.Error(err)
					}
				}
			})
		}
	})
}

// Whole gradient steps are tested at their true sizes, as the shapes divide them: ten critics, the
// denoisers, the encoders of frames of 64×64 and 84×84, in every precision.
func TestSteps(t *testing.T) {
	if !onGPU {
		t.Skip("the interpreter would take an hour for networks of their true sizes: PGRLAB_GPU=0 where there is a GPU; TestTiles has every tile on small ones")
	}
	on := quick(t)
	bounds := map[kernel.Precision]float64{kernel.FP32: 1e-4, kernel.TF32: 2e-3, kernel.BF16: 1.6e-2}
	eachPrecision(t, func(t *testing.T, dev *Device, _ []kernel.Tile) {
		for _, name := range []string{"redq10", "denoiser-1024", "denoiser-2048", "encoder-demo", "encoder-fit"} {
			t.Run(name, func(t *testing.T) {
				agree(t, steps(t, name, dev), steps(t, name, on), bounds[dev.Precision()])
			})
		}
	})
}

// steps makes two gradient steps of a workload and records the losses and the norms of the
// gradients.
func steps(t *testing.T, name string, dev device.Device) (s said) {
	t.Helper()
	w, found := bench.Find(bench.Workloads, name)
	if !found {
		t.Fatal("there is no workload " + name)
	}
	p, _, err := w.Program(dev)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for i := range uint64(2) {
		if err := p.Run(i); err != nil {
			t.Fatal(err)
		}
		s.say(fmt.Sprintf("loss %d", i), 1, float32(p.Loss()))
		s.say(fmt.Sprintf("norm %d", i), 10, float32(p.GradientNorm()))
	}
	return s
}

// tilesOf lists the tiles that the card has in each precision, as TestTiles names them.
func tilesOf(t *testing.T) map[string][]string {
	names := map[string][]string{}
	eachPrecision(t, func(t *testing.T, dev *Device, tiles []kernel.Tile) {
		for _, tile := range tiles {
			names[dev.Precision().String()] = append(names[dev.Precision().String()], tile.Name)
		}
	})
	return names
}

// Files that a driver compiles contain every kernel that they name, and no kernel needs a larger
// block than it may have.
func TestKernelsCompile(t *testing.T) {
	dev := card(t, Options{})
	ctx, err := dev.open()
	if err != nil {
		t.Fatal(err)
	}
	defer ctx.Close()
	report(t, "tiles", tilesOf(t))
	modules, err := kernel.Modules(dev.sm())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modules {
		tried, err := driver.Try(ctx, m.Text)
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		if len(tried.Kernels) != len(m.Kernels) {
			t.Errorf("%s: %d kernels, %d are named", m.Name, len(tried.Kernels), len(m.Kernels))
		}
		if onGPU { // interpreted kernels have no resources
			fitBlocks(t, m, tried)
		}
		tried.File = m.Name
		report(t, "compiled", tried)
	}
}

// fitBlocks checks that the blocks with which kernels are launched are not larger than those that
// they may have with their registers.
func fitBlocks(t *testing.T, m kernel.Module, tried driver.Tried) {
	t.Helper()
	const unbounded = 256 // the largest block without a .maxntid: package kernel's tests see to that
	parsed, err := ptx.Parse(m.Text)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range tried.Kernels {
		k, err := parsed.Kernel(name)
		if err != nil {
			t.Fatal(err)
		}
		if need := cmp.Or(k.MaxThreads, unbounded); got.Threads < need {
			t.Errorf("%s: %s may have blocks of %d threads, and is launched with up to %d", m.Name, name, got.Threads, need)
		}
	}
}
