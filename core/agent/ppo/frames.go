package ppo

import (
	"fmt"
	"math"

	"pgrlab/core/agent"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/window"
)

// layers returns the windows of the convolutions over frames, and how many numbers the last
// convolution outputs for a frame. The configuration must be valid.
func (c Config) layers() (over []window.Geometry, flat int) {
	g := window.Geometry{Height: c.Side, Width: c.Side, Channels: agent.Colours}
	for i, kernel := range c.Kernels {
		g.Kernel, g.Stride = kernel, c.Strides[i]
		over = append(over, g)
		g.Height, g.Width = g.Out()
		g.Channels = c.Channels[i]
	}
	return over, g.Size()
}

// validateFrames returns an error unless the convolutions fit the frames.
func (c Config) validateFrames() error {
	side := c.Side
	if side == 0 {
		return nil
	}
	for i, kernel := range c.Kernels {
		switch {
		case kernel < 1 || c.Strides[i] < 1 || c.Channels[i] < 1:
			return fmt.Errorf("agent.ppo: convolution %d has a kernel of %d, a stride of %d and %d channels, want at least 1 of each", i+1, kernel, c.Strides[i], c.Channels[i])
		case side < kernel:
			return fmt.Errorf("the convolutions, with kernels of %v and strides of %v, do not fit pixels.side %d: nothing is left for convolution %d: choose a larger side", c.Kernels, c.Strides, c.Side, i+1)
		}
		side = (side-kernel)/c.Strides[i] + 1
	}
	return nil
}

// input is how many numbers the networks read: those of an observation, or of a frame.
func (c Config) input() int { return c.numbers() + c.frame() }

// numbers is how many numbers an observation has; 0 if frames are seen instead.
func (c Config) numbers() int {
	if c.Side > 0 {
		return 0
	}
	return c.Shape.Obs
}

// frame is how many bytes a frame has; 0 if none are seen.
func (c Config) frame() int { return c.Side * c.Side * agent.Colours }

// read writes a look to dst as the networks read it, a frame as byte/255.
func (x *Agent) read(dst []float32, look experience.Look) {
	copy(dst, look.Numbers)
	for i, b := range look.Frame {
		dst[i] = x.tone[b]
	}
}

// show writes what copies see, stacks of one frame, to dst as the networks read it.
func (x *Agent) show(dst []float32, stacks [][][]byte) error {
	size := x.config.frame()
	for i, stack := range stacks {
		if len(stack) != 1 || len(stack[0]) != size {
			return fmt.Errorf("a stack of %d frames, want one of %d bytes", len(stack), size)
		}
		x.read(dst[i*size:(i+1)*size], experience.Look{Frame: stack[0]})
	}
	return nil
}

// Recall writes what a row of D_real was made from. Frames may be forgotten; observations are kept
// until D_real is remade.
func (l *Latent) Recall(dst *replay.FrameRow, _ agent.Frames, slot int) error {
	return l.chosen.Seen(dst, slot, l.config.Gamma)
}

// Met returns the newest transitions of observations; nil if frames are seen.
func (l *Latent) Met() replay.Rows {
	if l.config.Side > 0 {
		return nil
	}
	return experience.Transitions{Log: l.rollout.Log, Steps: l.config.Window * l.config.Steps}
}

// Encode returns the trunk's output [stacks,H] for frames, each a stack of one.
func (l *Latent) Encode(stacks [][][]byte) ([]float32, error) {
	return l.encode(nil, len(stacks), func(i int) experience.Look { return experience.Look{Frame: stacks[i][0]} })
}

// estimate returns latents of D_real or D_syn in the form in which the heads learn from those of
// D_syn: an estimate of what the present trunk would give.
func (l *Latent) estimate(z []float32) []float32 {
	least, most := float32(-1), float32(1)
	if l.config.Side > 0 {
		least, most = 0, math.MaxFloat32
	}
	z = l.aligned.now.Apply(z)
	for i, v := range z {
		z[i] = min(max(v, least), most)
	}
	return z
}
