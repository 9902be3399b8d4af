package window_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgrlab/core/window"
)

func frames(r *rand.Rand, n, size int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		all[i] = make([]byte, size)
		for j := range all[i] {
			all[i][j] = byte(r.IntN(256))
		}
	}
	return all
}

// bilinear is DrQ-v2's augmentation as it is written: grid_sample with align_corners=False
// of the picture padded by repetition, on the base grid moved by shift·2/n.
func bilinear(f window.Frames, frame []byte, down, across, y, x, c int) float64 {
	// The sides are alike.
	n := float64(f.Height + 2*f.Pad)
	at := func(i, shift int) float64 {
		g := -1 + 1/n + 2*float64(i)/n + 2*float64(shift)/n
		return ((g+1)*n - 1) / 2
	}
	padded := func(i, j int) float64 {
		if i < 0 || j < 0 || i >= int(n) || j >= int(n) {
			return 0 // padding_mode="zeros"
		}
		i, j = min(max(i-f.Pad, 0), f.Height-1), min(max(j-f.Pad, 0), f.Width-1)
		return float64(frame[(i*f.Width+j)*f.Channels+c])
	}
	v, u := at(y, down), at(x, across)
	i, j := math.Floor(v), math.Floor(u)
	sum := 0.0
	for a := range 2 {
		for b := range 2 {
			wy, wx := 1-math.Abs(v-i-float64(a)), 1-math.Abs(u-j-float64(b))
			sum += wy * wx * padded(int(i)+a, int(j)+b)
		}
	}
	return sum
}

// A crop of whole pixels is what bilinear sampling of DrQ-v2's grid gives, for every
// shift. The tolerance of 0.002 grey values is that of a grid in float32; in float64 it is
// far smaller.
func TestAShiftIsACrop(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	f := window.Frames{Height: 12, Width: 12, Channels: 3, Pad: 4}
	stack := frames(r, 2, f.Size())
	tone := new(window.Tone)
	for b := range tone {
		tone[b] = float32(b)
	}
	dst := make([]float32, 2*f.Size())
	for down := range f.Shifts() {
		for across := range f.Shifts() {
			f.Stack(dst, stack, down, across, tone)
			for i, got := range dst {
				pixel, channel := i/6, i%6
				want := bilinear(f, stack[channel/3], down, across, pixel/12, pixel%12, channel%3)
				if math.Abs(float64(got)-want) > 0.002 {
					t.Fatalf("shift %d,%d: pixel %d, channel %d is %v, bilinear sampling gives %v", down, across, pixel, channel, got, want)
				}
			}
		}
	}
}

// Shifts beyond the frame's own sides, and other channels than three.
func TestStackRepeatsTheEdge(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		f := window.Frames{Height: 1 + r.IntN(5), Width: 1 + r.IntN(5), Channels: 1 + r.IntN(4), Pad: r.IntN(8)}
		stack, tone := frames(r, 1+r.IntN(3), f.Size()), window.NewTone(0)
		depth := len(stack) * f.Channels
		dst := make([]float32, f.Height*f.Width*depth)
		down, across := r.IntN(f.Shifts()), r.IntN(f.Shifts())
		f.Stack(dst, stack, down, across, tone)
		bytes := make([]byte, len(dst))
		f.StackBytes(bytes, stack, down, across)
		for i, got := range dst {
			y, x, c := i/depth/f.Width, i/depth%f.Width, i%depth
			y, x = min(max(y+down-f.Pad, 0), f.Height-1), min(max(x+across-f.Pad, 0), f.Width-1)
			want := stack[c/f.Channels][(y*f.Width+x)*f.Channels+c%f.Channels]
			if got != tone[want] || bytes[i] != want {
				t.Fatalf("%+v shifted by %d,%d: element %d is %v and byte %d, want %v and %d", f, down, across, i, got, bytes[i], tone[want], want)
			}
		}
	}
}

// Without a shift an image is its frames, side by side, as PyTorch scales them.
func TestStackScales(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	f := window.Frames{Height: 3, Width: 5, Channels: 3, Pad: 2}
	stack := frames(r, 3, f.Size())
	dst := make([]float32, 3*f.Size())
	tone := window.NewTone(-0.5)
	f.Stack(dst, stack, 2, 2, tone)
	for i, got := range dst {
		if want := float32(stack[i%9/3][i/9*3+i%3])/255 - 0.5; got != want {
			t.Fatalf("element %d is %v, want %v", i, got, want)
		}
	}
	if tone[0] != -0.5 || tone[255] != 0.5 {
		t.Errorf("black is %v and white %v, want −0.5 and 0.5", tone[0], tone[255])
	}
	bytes := make([]byte, len(dst))
	if n := testing.AllocsPerRun(10, func() { f.Stack(dst, stack, 0, 4, tone); f.StackBytes(bytes, stack, 0, 4) }); n > 0 {
		t.Errorf("two stacks allocate %v times", n)
	}
}

func TestWhatDoesNotFit(t *testing.T) {
	f := window.Frames{Height: 2, Width: 2, Channels: 1, Pad: 1}
	frame, dst, bytes := make([]byte, 4), make([]float32, 4), make([]byte, 4)
	for name, call := range map[string]func(){
		"a shift too far":        func() { f.Stack(dst, [][]byte{frame}, 3, 0, new(window.Tone)) },
		"a negative shift":       func() { f.Stack(dst, [][]byte{frame}, 0, -1, new(window.Tone)) },
		"a short frame":          func() { f.Stack(dst, [][]byte{frame[:3:3]}, 1, 1, new(window.Tone)) },
		"a short image":          func() { f.Stack(dst[:3:3], [][]byte{frame}, 1, 1, new(window.Tone)) },
		"a far shift of bytes":   func() { f.StackBytes(bytes, [][]byte{frame}, 0, 3) },
		"a short image of bytes": func() { f.StackBytes(bytes[:3:3], [][]byte{frame}, 1, 1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is let pass", name)
				}
			}()
			call()
		}()
	}
	for _, wrong := range []window.Frames{{Height: 0, Width: 2, Channels: 1}, {Height: 2, Width: 2, Channels: 1, Pad: -1}} {
		if wrong.Check() == nil {
			t.Errorf("%+v is let pass", wrong)
		}
	}
	if err := f.Check(); err != nil {
		t.Error(err)
	}
}

// What geometries say of ResNet-18's and DrQ-v2's layers.
func TestGeometry(t *testing.T) {
	for _, c := range []struct {
		over          window.Geometry
		height, width int
	}{
		{window.Geometry{Height: 84, Width: 84, Channels: 9, Kernel: 3, Stride: 2}, 41, 41},
		{window.Geometry{Height: 84, Width: 84, Channels: 3, Kernel: 8, Stride: 4}, 20, 20},
		{window.Geometry{Height: 64, Width: 48, Channels: 3, Kernel: 5, Stride: 1, Pad: 2}, 64, 48},
		{window.Geometry{Height: 224, Width: 224, Channels: 3, Kernel: 7, Stride: 2, Pad: 3}, 112, 112},
		{window.Geometry{Height: 112, Width: 112, Channels: 64, Kernel: 3, Stride: 2, Pad: 1}, 56, 56},
	} {
		if err := c.over.Check(); err != nil {
			t.Error(err)
		}
		height, width := c.over.Out()
		if height != c.height || width != c.width {
			t.Errorf("%+v takes %d×%d places, want %d×%d", c.over, height, width, c.height, c.width)
		}
		taps := 0
		c.over.Taps(func(int, int, int) { taps++ })
		if full := c.over.Places() * c.over.Kernel * c.over.Kernel; taps > full || c.over.Pad == 0 && taps != full {
			t.Errorf("%+v has %d taps, want %d less those of padding", c.over, taps, full)
		}
	}
}

func BenchmarkStack(b *testing.B) {
	f := window.Frames{Height: 84, Width: 84, Channels: 3, Pad: 4}
	stack, tone := frames(rand.New(rand.NewPCG(5, 6)), 3, f.Size()), window.NewTone(-0.5)
	numbers, bytes := make([]float32, 3*f.Size()), make([]byte, 3*f.Size())
	b.Run("numbers", func(b *testing.B) {
		b.SetBytes(int64(len(numbers)))
		for b.Loop() {
			f.Stack(numbers, stack, 2, 5, tone)
		}
	})
	b.Run("bytes", func(b *testing.B) {
		b.SetBytes(int64(len(bytes)))
		for b.Loop() {
			f.StackBytes(bytes, stack, 2, 5)
		}
	})
}
