package window

import "fmt"

// Frames describes pictures from a renderer, bytes in NHWC order. A stack of them becomes one image
// of a batch, as float32 and shifted at random, which is DrQ's augmentation (Yarats, Kostrikov and
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
	if down < 0 || down >= f.Shifts() || across < 0 || across >= f.Shifts() {
		panic(fmt.Sprintf("window: shift %d,%d of frames with pad %d", down, across, f.Pad))
	}
	depth := len(stack) * f.Channels
	dst = dst[:f.Height*f.Width*depth]
	for k, frame := range stack {
		frame = frame[:f.Size()]
		for y := range f.Height {
			line := frame[clamp(y+down-f.Pad, f.Height)*f.Width*f.Channels:][:f.Width*f.Channels]
			f.line(dst[y*f.Width*depth+k*f.Channels:], line, depth, across-f.Pad, tone)
		}
	}
}

// line writes one frame's part of a line of the image, whose pixels are depth numbers apart.
func (f Frames) line(dst []float32, line []byte, depth, by int, tone *Tone) {
	first, end := clamp(-by, f.Width), clamp(f.Width-1-by, f.Width)+1 // pixels x in [first, end) lie inside the line
	for x := range first {
		f.pixel(dst[x*depth:], line, tone)
	}
	src, out := line[clamp(first+by, f.Width)*f.Channels:], dst[first*depth:]
	for range end - first {
		if f.Channels == 3 {
			s, d := src[:3:3], out[:3:3]
			d[0], d[1], d[2] = tone[s[0]], tone[s[1]], tone[s[2]]
		} else {
			f.pixel(out, src, tone)
		}
		src, out = src[f.Channels:], out[min(depth, len(out)):]
	}
	for x := end; x < f.Width; x++ {
		f.pixel(dst[x*depth:], line[len(line)-f.Channels:], tone)
	}
}

func (f Frames) pixel(dst []float32, src []byte, tone *Tone) {
	for c, b := range src[:f.Channels] {
		dst[c] = tone[b]
	}
}

func clamp(i, n int) int { return max(0, min(i, n-1)) }
