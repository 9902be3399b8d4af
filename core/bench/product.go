package bench

import (
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/rng"
)

// productLayers are the layers whose products Products times: from a batch of the
// smaller denoiser to a chunk of the larger one's sampling.
var productLayers = []Layer{{1, 256, 1024, 1024}, {1, 256, 2048, 2048}, {1, 1024, 1024, 1024}, {1, 4096, 1024, 1024}, {1, 4096, 2048, 2048}}

// Products lists the products of large layers, one workload for each of the three layouts of a
// layer's forward and backward passes.
var Products = products()

func products() (all []Workload) {
	for i, kind := range []struct{ name, doc string }{
		{"forward", "x·w"},
		{"dx", "dz·wᵀ, the gradient by the operand"},
		{"dw", "xᵀ·dz, the gradient by the weights"},
	} {
		for _, l := range productLayers {
			all = append(all, Workload{
				Name: fmt.Sprintf("%s-%dx%dx%d", kind.name, l.Rows, l.In, l.Out),
				Doc:  fmt.Sprintf("%s, of %v", kind.doc, l),
				Make: func(dev device.Device) (func(uint64) error, float64, error) { return l.product(dev, i) },
			})
		}
	}
	return all
}

// apart is the minimum number of numbers in the operands of a step's products. It exceeds what
// caches hold, so that the operands come from memory as those of a network do.
const apart = 1 << 24

// product is the layer's instruction number i alone, repeated on different operands so often that
// the operands come from memory.
func (l Layer) product(dev device.Device, i int) (func(uint64) error, float64, error) {
	one := Layer{l.Members, 1, 1, 1}.program(func(x float32) float32 { return x })
	p := &device.Program{Name: "product"}
	numbers := make([]float32, 1<<16)
	rng.New(1, "product").FillNormal(numbers, 0, 0)
	buffer := func(rows, cols int, made bool) device.Ref {
		b := device.Buffer{Members: l.Members, Rows: rows, Cols: cols}
		if !made {
			b.Host = make([]float32, 0, b.Len())
			for len(b.Host) < b.Len() {
				b.Host = append(b.Host, numbers[:min(len(numbers), b.Len()-len(b.Host))]...)
			}
		}
		p.Buffers = append(p.Buffers, b)
		return device.Ref(len(p.Buffers) - 1)
	}
	sizes := []struct{ rows, cols int }{{l.Rows, l.In}, {l.In, l.Out}, {1, l.Out}, {l.Rows, l.Out}} // x, w, b, dz
	results := []struct{ rows, cols int }{{l.Rows, l.Out}, {l.Rows, l.In}, {l.In, l.Out}}
	in := one.Instrs[i]
	turns := 0
	for held := 0; held < apart; turns++ {
		in.In = nil
		for _, r := range one.Instrs[i].In {
			in.In = append(in.In, buffer(sizes[r].rows, sizes[r].cols, false))
			held += sizes[r].rows * sizes[r].cols
		}
		in.Out = buffer(results[i].rows, results[i].cols, true)
		p.Instrs, p.Keep = append(p.Instrs, in), append(p.Keep, in.Out)
	}
	x, err := dev.Compile(p)
	if err != nil {
		return nil, 0, err
	}
	return x.Run, 2 * float64(turns*l.Members) * float64(l.Rows) * float64(l.In) * float64(l.Out), nil
}
