package agent

import (
	"fmt"

	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/window"
)

// Pixels describes the observations of a learner that sees frames, and the convolutions that
// read them: the table [pixels] of a configuration.
type Pixels struct {
	Side     int   `toml:"side"`     // of a frame, in pixels
	Stack    int   `toml:"stack"`    // frames of an observation, the newest last
	Pad      int   `toml:"pad"`      // largest random shift of a batch's images to each side, in pixels; 0: none
	Channels int   `toml:"channels"` // of each convolution
	Strides  []int `toml:"strides"`  // of the convolutions of 3×3, one each
	Feature  int   `toml:"feature"`  // width of the layer after the convolutions
}

// DefaultPixels are DrQ-v2's (facebookresearch/drqv2: cfgs/config.yaml, drqv2.py).
var DefaultPixels = Pixels{Side: 84, Stack: 3, Pad: 4, Channels: 32, Strides: []int{2, 1, 1, 1}, Feature: 50}

// Colours is how many numbers a pixel of a frame has: red, green, blue.
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

// Layers returns the convolutions' windows, and how many numbers the last convolution
// outputs for an image. p must be valid.
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
// rewards between them: experience.Frames.
type Frames interface {
	// Draw writes row number row of the batch of an occasion to dst: n consecutive env steps
	// of one episode, or fewer if a true end comes before, drawn uniformly from all there
	// are. It is an error if there are none. As long as nothing is added, the same occasion
	// and row give the same env steps. Several goroutines may call it at once.
	Draw(dst *replay.FrameRow, n int, gamma float64, occasion uint64, row int) error
	// Drawable says whether there is a row to draw.
	Drawable(n, stack int) bool
	// Windows lists the rows that Draw draws from, only the newest if they are more than
	// most, in an order that stays the same as long as nothing is added. Window writes one
	// of them to dst; it is an error if its frames have been forgotten since. Several
	// goroutines may call Window at once.
	Windows(n, stack, most int) experience.Windows
	Window(dst *replay.FrameRow, w *experience.Windows, i int, gamma float64) error
}

// MostCrops is the number of rows of a batch whose crops are kept.
const MostCrops = 4

// Crop is a randomly shifted frame of a batch.
type Crop struct {
	Frame, Cropped []byte // [Side,Side,3]
	// Each pixel of Cropped comes from Frame's pixel Down below it and Across to its right, or
	// from the edge.
	Down, Across int
}

// Encoder encodes observed frames or numbers for a learner whose Traits have Rows and which fills D_real
// with them.
type Encoder interface {
	// Recall writes the env steps and the frames that the row in a slot of D_real was made from
	// to dst, whose Stack and Next have room for an observation's frames. They come from the
	// frames of the run, or from those that the learner has kept. A learner of numbers writes Obs
	// and NextObs instead. An error says that they have been forgotten, or that D_real has not
	// been made yet. Save writes what Recall depends on. Recall changes nothing.
	Recall(dst *replay.FrameRow, from Frames, slot int) error
	// Encode returns the z [stacks,O] that rows of D_real would have for stacks of frames if
	// they were made now.
	Encode(stacks [][][]byte) (z []float32, err error)
	// Reencode returns the z [rows,O] that D_real has of some of its rows, spread evenly over it,
	// and those that they would have if they were made now, for a learner that keeps what they were
	// made from until D_real is made again: the run itself forgets most frames sooner. aligned is
	// what updates read instead of then: the learner's estimate of now. All are empty if no rows are
	// kept.
	Reencode() (then, now, aligned []float32, err error)
	// Met returns the newest transitions of observations from which D_real is made, with their
	// notes. It is nil if frames are seen, or none are kept.
	Met() replay.Rows
}
