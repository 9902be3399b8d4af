package relevance

import (
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/replay"
)

// Frames describes the frames of a learner that makes D_real from them: pictures of Side × Side
// pixels, of which Stack form an observation, the newest last. It is zero if there are no frames.
type Frames struct{ Side, Stack int }

// colours is how many numbers a pixel has: red, green, blue.
const colours = 3

// size is how many bytes a frame has.
func (f Frames) size() int { return f.Side * f.Side * colours }

// Sighted is a Function of the frames that transitions were made from. It scores batches with
// replay.Batch.Frames and fails on others with the error in replay.Batch.Unseen, or with
// replay.ErrUnseen: generated transitions have no frames.
type Sighted interface {
	Function
	// Slice is how many transitions are observed or scored in a few hundredths of a second.
	Slice() int
}

// ConfigOfFrames are settings of a function that takes a different form for frames.
type ConfigOfFrames interface {
	Config
	// ValidateFrames says in one line why the function cannot be made for such frames, or
	// returns nil.
	ValidateFrames(f Frames) error
	// MemoryOfFrames is Memory of the function for such frames.
	MemoryOfFrames(shape replay.Shape, f Frames) float64
}

// Looks reports whether the function with these settings looks at such frames and not at the
// numbers beside them.
func Looks(c Config, f Frames) bool {
	seeing, can := c.(interface{ looks(f Frames) bool })
	return can && seeing.looks(f)
}

// framesOf are the frames of the first rows transitions of a batch.
func framesOf(name string, b *replay.Batch, rows int) ([]replay.FrameRow, error) {
	switch {
	case b.Unseen != nil:
		return nil, fmt.Errorf("relevance %s: %w", name, b.Unseen)
	case len(b.Frames) < rows:
		return nil, fmt.Errorf("relevance %s: %w", name, replay.ErrUnseen)
	}
	return b.Frames[:rows], nil
}

// shared returns a function that does all parts of some work, on the device's workers if the device
// lends them.
func shared(dev device.Device, work func(part, parts int)) func() {
	if s, lends := dev.(device.Sharer); lends {
		return s.Share(work)
	}
	return func() { work(0, 1) }
}

// beginner is a Function that has to look at transitions before it scores the first ones: see
// Model.Begin.
type beginner interface {
	Function
	Begin(b *replay.Batch, rows int) error
}
