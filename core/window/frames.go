package window

import (
	"encoding/binary"
	"fmt"
)

// Frames describes pictures from a renderer, bytes in NHWC order. A stack of them becomes one image
// of a batch, as float32 or bytes, shifted at random, which is DrQ's augmentation (Yarats, Kostrikov and
// Fergus 2021).
//
// DrQ-v2 pads by repeating the edge and interpolates between pixels, but its sampling points fall
// on whole pixels: its grid is the image's own, moved by a whole number of pixels. So the shift is
// a crop of the padded picture, and the bytes stay bytes until they are in the batch.
type Frames struct {
	Height, Width, Channels int // of one frame
	Pad                     int // the largest shift to each side, in pixels
}

// Check reports what is wrong with the sizes.
func (f Frames) Check() error {
	if f.Height < 1 || f.Width < 1 || f.Channels < 1 {
		return fmt.Errorf("frames of %d×%d×%d have no pixels", f.Height, f.Width, f.Channels)
	}
	if f.Pad < 0 {
		return fmt.Errorf("pad %d is negative", f.Pad)
	}
	return nil
}

// Size is the number of bytes in a frame.
func (f Frames) Size() int { return f.Height * f.Width * f.Channels }

// Shifts is the number of shifts in each direction, 0 to Shifts−1; the shift Pad moves nothing.
func (f Frames) Shifts() int { return 2*f.Pad + 1 }

// A Tone maps each byte value to a number.
type Tone [256]float32

// NewTone is byte/255 + offset: −0.5 for DrQ-v2 and DreamerV3, 0 for PPO.
func NewTone(offset float32) *Tone {
	t := new(Tone)
	for b := range t {
		t[b] = float32(b)/255 + offset
	}
	return t
}

// Stack writes the image [Height, Width, len(stack)·Channels] of a stack of frames, the oldest
// first, all with the same shift. Pixel (y,x) of the image is pixel (y+down−Pad, x+across−Pad) of
// each frame, or the frame's nearest pixel. tone maps bytes to numbers. Stack panics if a frame,
// dst or a shift does not fit.
func (f Frames) Stack(dst []float32, stack [][]byte, down, across int, tone *Tone) {
	lay(f, dst, stack, down, across, func(dst []float32, src []byte, r run) {
		from, to := 0, 0
		if r.channels == 3 {
			for range r.pixels {
				s, d := src[from:from+3:from+3], dst[to:to+3:to+3]
				d[0], d[1], d[2] = tone[s[0]], tone[s[1]], tone[s[2]]
				from, to = from+r.step, to+r.depth
			}
			return
		}
		for range r.pixels {
			for c, b := range src[from : from+r.channels] {
				dst[to+c] = tone[b]
			}
			from, to = from+r.step, to+r.depth
		}
	})
}

// StackBytes is Stack without a tone: the image holds the frames' bytes.
func (f Frames) StackBytes(dst []byte, stack [][]byte, down, across int) {
	lay(f, dst, stack, down, across, func(dst, src []byte, r run) {
		if r.step == r.depth { // a stack of one frame
			copy(dst, src[:r.pixels*r.step])
			return
		}
		from, to := 0, 0
		if r.channels == 3 {
			for range r.pixels {
				s, d := src[from:from+3:from+3], dst[to:to+3:to+3]
				binary.LittleEndian.PutUint16(d, binary.LittleEndian.Uint16(s))
				d[2] = s[2]
				from, to = from+r.step, to+r.depth
			}
			return
		}
		for range r.pixels {
			copy(dst[to:], src[from:from+r.channels])
			from, to = from+r.step, to+r.depth
		}
	})
}

// run is a number of pixels in a line, depth elements of the image apart. They are step bytes of
// the frame apart: its channels, or 0 where the first pixel is repeated.
type run struct{ pixels, channels, depth, step int }

// lay calls write for each run of pixels of an image, with where it begins in the image and in the
// frame.
func lay[T byte | float32](f Frames, dst []T, stack [][]byte, down, across int, write func(dst []T, src []byte, r run)) {
	if down < 0 || down >= f.Shifts() || across < 0 || across >= f.Shifts() {
		panic(fmt.Sprintf("window: shift %d,%d of frames with pad %d", down, across, f.Pad))
	}
	depth, width := len(stack)*f.Channels, f.Width*f.Channels
	dst = dst[:f.Height*f.Width*depth]
	by := across - f.Pad
	first, end := clamp(-by, f.Width), clamp(f.Width-1-by, f.Width)+1 // pixels x in [first, end) lie inside the line
	for k, frame := range stack {
		frame = frame[:f.Size()]
		for y := range f.Height {
			line := frame[clamp(y+down-f.Pad, f.Height)*width:][:width]
			to := dst[y*f.Width*depth+k*f.Channels:]
			if first > 0 {
				write(to, line, run{first, f.Channels, depth, 0})
			}
			write(to[first*depth:], line[clamp(first+by, f.Width)*f.Channels:], run{end - first, f.Channels, depth, f.Channels})
			if end < f.Width {
				write(to[end*depth:], line[width-f.Channels:], run{f.Width - end, f.Channels, depth, 0})
			}
		}
	}
}

func clamp(i, n int) int { return max(0, min(i, n-1)) }
