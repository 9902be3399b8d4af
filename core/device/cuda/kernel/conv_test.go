package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/window"
)

// images is a convolution, with its gradients, on random numbers.
type images struct {
	over   window.Geometry
	images int
	out    int // channels of the result
}

func (c images) String() string {
	g := c.over
	return fmt.Sprintf("%d images of %d×%d×%d, window %d/%d pad %d, %d outputs", c.images, g.Height, g.Width, g.Channels, g.Kernel, g.Stride, g.Pad, c.out)
}

// The buffers of a program of images.
const (
	imagesX device.Ref = iota
	imagesW
	imagesB
	imagesMask
	imagesDZ
	imagesY
	imagesDX
	imagesDW
	imagesDB
)

// program is a convolution with ReLU, and its gradients; that of x is 0 where the mask is not
// positive.
func (c images) program() *device.Program {
	p, random := &device.Program{}, rand.New(rand.NewPCG(uint64(c.images), uint64(c.out)))
	places := c.over.Places()
	for _, s := range []sizes{
		{1, c.images, c.over.Size()}, {1, c.over.Patch(), c.out}, {1, 1, c.out}, {1, c.images, c.over.Size()}, {1, c.images, places * c.out}, // operands
		{1, c.images, places * c.out}, {1, c.images, c.over.Size()}, {1, c.over.Patch(), c.out}, {1, 1, c.out},
	} {
		b := device.Buffer{Members: s[0], Rows: s[1], Cols: s[2], Host: make([]float32, s[0]*s[1]*s[2])}
		for i := range b.Host {
			b.Host[i] = float32(random.NormFloat64())
		}
		p.Buffers = append(p.Buffers, b)
	}
	p.Instrs = []device.Instr{
		{Code: device.Conv, Out: imagesY, In: []device.Ref{imagesX, imagesW, imagesB}, Mask: device.None, Window: c.over, ReLU: true},
		{Code: device.ConvDX, Out: imagesDX, In: []device.Ref{imagesDZ, imagesW}, Mask: imagesMask, Window: c.over},
		{Code: device.ConvDW, Out: imagesDW, In: []device.Ref{imagesX, imagesDZ}, Mask: device.None, Window: c.over},
		{Code: device.ConvDB, Out: imagesDB, In: []device.Ref{imagesDZ}, Mask: device.None, Window: c.over},
	}
	p.Keep = []device.Ref{imagesY, imagesDX, imagesDW, imagesDB}
	return p
}

// sums are a result in float64, and the sums of the magnitudes of its terms.
type sums struct{ sum, magnitude []float64 }

func newSums(n int) sums { return sums{make([]float64, n), make([]float64, n)} }

func (s sums) add(i int, a, b float32) {
	term := float64(a) * float64(b)
	s.sum[i] += term
	s.magnitude[i] += math.Abs(term)
}

// want computes the results by the definition.
func (c images) want(p *device.Program) map[device.Ref]sums {
	host := func(r device.Ref) []float32 { return p.Buffers[r].Host }
	want := map[device.Ref]sums{}
	for _, r := range p.Keep {
		want[r] = newSums(p.Buffers[r].Len())
	}
	places, size, channels := c.over.Places(), c.over.Size(), c.over.Channels
	for i := range c.images {
		x, dz := host(imagesX)[i*size:], host(imagesDZ)[i*places*c.out:]
		c.over.Taps(func(place, tap, pixel int) {
			for ch := range channels {
				for o := range c.out {
					from, weight, to := pixel*channels+ch, (tap*channels+ch)*c.out+o, place*c.out+o
					want[imagesY].add(i*places*c.out+to, x[from], host(imagesW)[weight])
					want[imagesDX].add(i*size+from, dz[to], host(imagesW)[weight])
					want[imagesDW].add(weight, x[from], dz[to])
				}
			}
		})
		for k := range places * c.out {
			want[imagesY].add(i*places*c.out+k, 1, host(imagesB)[k%c.out])
			want[imagesDB].add(k%c.out, 1, dz[k])
		}
	}
	for i, y := range want[imagesY].sum {
		want[imagesY].sum[i] = max(y, 0)
	}
	for i, keep := range host(imagesMask) {
		if !(keep > 0) {
			want[imagesDX].sum[i] = 0
		}
	}
	return want
}

func (c images) check(t *testing.T, target Target) {
	t.Helper()
	p := c.program()
	x := execute(t, newCard(t, target), p)
	for r, want := range c.want(p) {
		for i, got := range x.Data(r) {
			if bound := summation * want.magnitude[i]; !(math.Abs(float64(got)-want.sum[i]) <= bound) {
				t.Errorf("%v: element %d of buffer %d is %v, want %v ± %.1e", c, i, r, got, want.sum[i], bound)
				break
			}
		}
	}
}

func square(side, channels, kernel, stride, pad int) window.Geometry {
	return window.Geometry{Height: side, Width: side, Channels: channels, Kernel: kernel, Stride: stride, Pad: pad}
}

// Convolutions and their gradients agree with the definition: channels and outputs with and without
// whole vectors, below, at and above the columns of a tile, windows that leave pixels out or have
// fewer taps than the stride, pads, sums in one part and in several.
func TestConvolutions(t *testing.T) {
	for _, c := range []images{
		{square(9, 9, 3, 2, 0), 2, 32},  // DrQ-v2's first layer
		{square(9, 32, 3, 1, 0), 2, 32}, // the others
		{square(8, 33, 3, 1, 1), 1, 33},
		{square(12, 3, 8, 4, 0), 2, 16}, // PPO's and RND's first layer
		{square(10, 3, 8, 4, 0), 3, 16}, // the last pixels are under no window
		{square(9, 32, 4, 2, 0), 1, 64},
		{square(12, 3, 7, 2, 3), 1, 64}, // ResNet's first layer
		{square(7, 64, 1, 2, 0), 1, 65}, // its shortcut
		{square(5, 4, 5, 1, 4), 2, 1},   // more places than pixels
		{window.Geometry{Height: 1, Width: 30, Channels: 1, Kernel: 1, Stride: 1}, 5, 1},
		{window.Geometry{Height: 2, Width: 3, Channels: 2, Kernel: 3, Stride: 3, Pad: 2}, 3, 6},
	} {
		c.check(t, Target{SM: 70})
	}
}

// The large tiles, which cards with few multiprocessors use from fewer rows on: with and without
// whole vectors of channels and outputs, several phases, and columns that do not fill a tile.
func TestConvolutionsOfManyRows(t *testing.T) {
	target := Target{SM: 70, Processors: 14}
	for _, c := range []struct {
		images
		forward, backward string
	}{
		{images{square(43, 9, 3, 2, 1), 8, 12}, "conv_128x32", "conv_dx_128x32"},
		{images{square(31, 4, 2, 1, 1), 4, 34}, "conv_128x64", "conv_dx_128x32"},
		{images{square(61, 36, 1, 1, 0), 1, 8}, "conv_128x32", "conv_dx_128x64"},
		{images{square(61, 33, 1, 1, 0), 1, 64}, "conv_128x64", "conv_dx_128x64"},
		{images{square(61, 64, 1, 1, 0), 1, 5}, "conv_128x32", "conv_dx_128x64"},
	} {
		for i, want := range []string{c.forward, c.backward} {
			r, err := Lower(c.program(), i, target)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Launches[0].Kernel; got != want {
				t.Errorf("%v is computed by %s, want %s", c, got, want)
			}
		}
		c.check(t, target)
	}
}

// The parts of a gradient of weights fill a card once, and none is too long for a sum in float32.
func TestPartsOfConvolutions(t *testing.T) {
	for _, c := range []struct {
		name                     string
		places, weights, outputs int
		part, blocks             int
	}{
		{"DrQ-v2, first layer", 256 * 41 * 41, 81, 32, 684, 630},
		{"DrQ-v2, second layer", 256 * 39 * 39, 288, 32, 1836, 639},
		{"DrQ-v2, last layer", 256 * 35 * 35, 288, 32, 1476, 639},
		{"the last layer of a batch of 8", 8 * 35 * 35, 288, 32, 96, 309},
		{"ResNet, last stage", 256 * 6 * 6, 9 * 512, 512, 2052, 3840},
		{"one image", 9, 288, 32, 96, 3},
	} {
		part := Target{SM: 90}.convPart(c.places, c.weights, c.outputs)
		blocks := ceil(c.places, part) * ceil(c.weights, convWeights.m) * ceil(c.outputs, convWeights.n)
		if part != c.part || blocks != c.blocks {
			t.Errorf("%s: %d places a part, %d blocks, want %d and %d", c.name, part, blocks, c.part, c.blocks)
		}
	}
}
