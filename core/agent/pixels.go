package agent

import (
	"fmt"

	"pgrlab/core/replay"
	"pgrlab/core/window"
)

// Pixels is what a learner sees that sees frames, and the convolutions that look at it:
// the table [pixels] of a configuration.
type Pixels struct {
	Side     int   `toml:"side"`     // of a frame, in pixels
	Stack    int   `toml:"stack"`    // frames of an observation, the newest last
	Pad      int   `toml:"pad"`      // largest random shift of a batch's images to each side, in pixels; 0: none
	Channels int   `toml:"channels"` // of each convolution
	Strides  []int `toml:"strides"`  // of the convolutions of 3×3, one each
	Feature  int   `toml:"feature"`  // width of what follows the convolutions
}

// DefaultPixels are DrQ-v2's (facebookresearch/drqv2: cfgs/config.yaml, drqv2.py).
var DefaultPixels = Pixels{Side: 84, Stack: 3, Pad: 4, Channels: 32, Strides: []int{2, 1, 1, 1}, Feature: 50}

// Colours are the numbers of a pixel of a frame: red, green, blue.
const Colours = 3

// Validate says in one line what is wrong, or returns nil.
func (p Pixels) Validate() error {
	switch {
	case p.Side < 1 || p.Side > 1024:
		return fmt.Errorf("pixels.side is %d, want 1 to 1024", p.Side)
	case p.Stack < 1 || p.Stack > 16:
		return fmt.Errorf("pixels.stack is %d, want 1 to 16 frames", p.Stack)
	case p.Pad < 0 || p.Pad > 128:
		return fmt.Errorf("pixels.pad is %d, want 0 to 128 pixels", p.Pad)
	case p.Channels < 1 || p.Channels > 1024:
		return fmt.Errorf("pixels.channels is %d, want 1 to 1024", p.Channels)
	case p.Feature < 1 || p.Feature > 65536:
		return fmt.Errorf("pixels.feature is %d, want 1 to 65536", p.Feature)
	case len(p.Strides) < 1 || len(p.Strides) > 16:
		return fmt.Errorf("pixels.strides are %d, want 1 to 16: one for each convolution", len(p.Strides))
	}
	over := window.Geometry{Height: p.Side, Width: p.Side, Channels: p.Stack * Colours, Kernel: kernel}
	for i, stride := range p.Strides {
		over.Stride = stride
		if stride < 1 {
			return fmt.Errorf("pixels.strides: %d is %d, want at least 1", i+1, stride)
		}
		if over.Height < kernel {
			return fmt.Errorf("pixels.strides %v do not fit pixels.side %d: nothing is left for convolution %d: choose a larger side or smaller strides", p.Strides, p.Side, i+1)
		}
		over.Height, over.Width = over.Out()
	}
	return nil
}

// kernel is the side of the convolutions' windows.
const kernel = 3

// Layers are the convolutions' windows, and how many numbers the last of them makes of an
// image. p must be valid.
func (p Pixels) Layers() (over []window.Geometry, flat int) {
	g := window.Geometry{Height: p.Side, Width: p.Side, Channels: p.Stack * Colours, Kernel: kernel}
	for _, stride := range p.Strides {
		g.Stride = stride
		over = append(over, g)
		height, width := g.Out()
		g.Height, g.Width, g.Channels = height, width, p.Channels
	}
	return over, g.Size()
}

// Frames are the frames that a learner's batches are made from, with the actions and
// rewards between them: replay.FrameSampler.
type Frames interface {
	// Draw writes row number row of the batch of an occasion to dst: n env steps that
	// follow each other in one episode, or as many as there are before a true end,
	// uniformly from all there are; an error where there are none. While nothing is added
	// the same occasion and row give the same. Several goroutines may call it at once.
	Draw(dst *replay.FrameRow, n int, gamma float64, occasion uint64, row int) error
	// Windows lists all rows that Draw draws from, the newest most of them, in an order that
	// is the same while nothing is added; Window writes one of them, an error where its
	// frames have been forgotten since. Several goroutines may call Window at once.
	Windows(n, stack, most int) replay.Windows
	Window(dst *replay.FrameRow, w *replay.Windows, i int, gamma float64) error
}

// Sighted is a learner that sees frames: Acting.Stacks and BatchSource.Frames are for it,
// and its Activations are those of stacks.
type Sighted interface {
	Learner
	// ActivationsOf returns the policy's layers for stacks of frames as Acting has them,
	// at most MaxRows of them. The numbers stay valid until the next call.
	ActivationsOf(stacks [][][]byte) ([]Layer, error)
}

// MostCrops is how many rows of a batch a Shifter keeps what it has done to.
const MostCrops = 4

// Shifter is a Sighted whose batches hold frames that were shifted at random.
type Shifter interface {
	Sighted
	// Crops are of the last batch's first rows; none before there was one. They are the
	// caller's.
	Crops() []Crop
}

// Crop is a frame that was shifted.
type Crop struct {
	Frame, Cropped []byte // [Side,Side,3]
	// What stands in a place of Cropped comes from that many pixels below it and to the
	// right, or from the edge.
	Down, Across int
}

// Encoder is a learner whose Spec has Rows and which fills D_real with what it makes of what
// was seen, frames or numbers.
type Encoder interface {
	Sighted
	// Recall writes the env steps and the frames that the row in a slot of D_real was made from
	// to dst, whose Stack and Next have room for an observation's: from the frames of the run, or
	// from what the learner has kept of them. Of numbers it writes Obs and NextObs. An error says
	// that they have been forgotten, or that D_real has not been made yet. What it goes by is
	// part of what Save writes. It changes nothing.
	Recall(dst *replay.FrameRow, from Frames, slot int) error
	// Encode returns what rows of D_real would have as z of stacks of frames if they were
	// made now, [stacks,O].
	Encode(stacks [][][]byte) (z []float32, err error)
	// Align returns latents as they stand in D_real or D_syn as updates read those of
	// D_syn: the same, or what the learner knows of how they would be if they were made
	// now.
	Align(z []float32) []float32
}

// Rememberer is an Encoder of numbers that keeps the transitions of observations which it makes
// D_real from.
type Rememberer interface {
	Encoder
	// Met are the newest of them with their notes, which stay the learner's; nil: it sees frames.
	Met() *replay.Ring
}
