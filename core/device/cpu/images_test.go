package cpu

import (
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/rng"
	"pgrlab/core/window"
)

// layersOfImages is two convolutions with a ReLU between them, and the gradients of the
// second: its images, weights and biases.
func layersOfImages(rows int) *device.Program {
	p := &device.Program{Name: "layers of images"}
	buffer := func(name string, rows, cols int) device.Ref {
		b := device.Buffer{Name: name, Members: 1, Rows: rows, Cols: cols}
		if name != "" {
			b.Host = make([]float32, b.Len())
			rng.New(1, name).FillNormal(b.Host, 0, 0)
		}
		p.Buffers = append(p.Buffers, b)
		return device.Ref(len(p.Buffers) - 1)
	}
	first := window.Geometry{Height: 11, Width: 9, Channels: 3, Kernel: 3, Stride: 2}
	second := window.Geometry{Height: 5, Width: 4, Channels: 16, Kernel: 3, Stride: 1, Pad: 1}
	x, dz := buffer("x", rows, first.Size()), buffer("dz", rows, second.Places()*6)
	w1, b1, w2, b2 := buffer("w1", first.Patch(), 16), buffer("b1", 1, 16), buffer("w2", second.Patch(), 6), buffer("b2", 1, 6)
	h, y := buffer("", rows, second.Size()), buffer("", rows, second.Places()*6)
	for _, in := range []device.Instr{
		{Code: device.Conv, In: []device.Ref{x, w1, b1}, Out: h, Window: first, ReLU: true, Mask: device.None},
		{Code: device.Conv, In: []device.Ref{h, w2, b2}, Out: y, Window: second, Mask: device.None},
		{Code: device.ConvDX, In: []device.Ref{dz, w2}, Out: buffer("", rows, second.Size()), Window: second, Mask: h},
		{Code: device.ConvDW, In: []device.Ref{h, dz}, Out: buffer("", second.Patch(), 6), Window: second, Mask: device.None},
		{Code: device.ConvDB, In: []device.Ref{dz}, Out: buffer("", 1, 6), Window: second, Mask: device.None},
	} {
		p.Instrs, p.Keep = append(p.Instrs, in), append(p.Keep, in.Out)
	}
	return p
}

// Consecutive layers of images become one stage that goes image by image; its numbers are those of
// one layer after the other, bit for bit.
func TestLayersOfImagesGoImageByImage(t *testing.T) {
	for _, rows := range []int{1, 2, 7} { // with one image, one of the lanes has none
		dev, err := New(Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		p := layersOfImages(rows)
		e, err := dev.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		x := e.(*executable)
		if stages := x.job.segments[0]; len(stages) != 1 || len(x.stages[0]) != len(p.Instrs) {
			t.Errorf("%d rows: %d stages of %d instructions, want one of %d", rows, len(stages), len(x.stages[0]), len(p.Instrs))
		}
		numbers := func() (all []float32) {
			for _, r := range p.Keep {
				all = append(all, x.Data(r)...)
			}
			return all
		}
		for range 2 { // the second run must not start from what the first left
			if err := x.Run(0); err != nil {
				t.Fatal(err)
			}
		}
		together := numbers()
		x.job.segments = x.stages
		if err := x.Run(0); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(together, numbers()) {
			t.Errorf("%d rows: image by image gives other numbers than layer by layer", rows)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}

// With one image, the lane that has none clears all of its sums again, whichever worker does its parts.
func TestSumsOverImagesStartAgain(t *testing.T) {
	dev, err := New(Options{Threads: 8, LeastShare: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	p := layersOfImages(1)
	e, err := dev.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	x := e.(*executable)
	inParts(x.job.segments, 1)
	var want [][]float32
	for _, r := range p.Keep {
		want = append(want, slices.Clone(x.Data(r)))
	}
	for _, segments := range [][][]stage{x.job.segments, x.stages} {
		inParts(segments, x.parts)
		for i, r := range p.Keep {
			if !slices.Equal(x.Data(r), want[i]) {
				t.Errorf("%s in %d parts has other numbers than in one", p.Instrs[i].Code, x.parts)
			}
		}
	}
}
