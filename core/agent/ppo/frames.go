package ppo

import (
	"fmt"
	"math"

	"pgrlab/core/agent"
	"pgrlab/core/replay"
	"pgrlab/core/window"
)

// layers are the windows of the convolutions over frames, and how many numbers the last of
// them makes of one. The configuration must be valid.
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

// validateFrames says whether the convolutions fit the frames.
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
			return fmt.Errorf("agent.ppo.kernels %v with strides %v do not fit pixels.side %d: nothing is left for convolution %d: choose a larger side", c.Kernels, c.Strides, c.Side, i+1)
		}
		side = (side-kernel)/c.Strides[i] + 1
	}
	return nil
}

// input is how many numbers the networks are given of what is observed: those of an
// observation, or a frame's.
func (c Config) input() int { return c.numbers() + c.frame() }

// numbers are those of an observation; 0: frames are seen instead.
func (c Config) numbers() int {
	if c.Side > 0 {
		return 0
	}
	return c.Shape.Obs
}

// frame is how many bytes a frame has; 0: none are seen.
func (c Config) frame() int { return c.Side * c.Side * agent.Colours }

// observed are observations in a row, or the frames that are seen instead.
type observed struct {
	numbers []float32 // [n,O]
	frames  []byte    // [n,Side,Side,3]
}

// read writes row number row as the networks are given it, a frame as byte/255.
func (x *Agent) read(dst []float32, from observed, row int) {
	if x.config.Side == 0 {
		copy(dst, from.numbers[row*len(dst):(row+1)*len(dst)])
		return
	}
	for i, b := range from.frames[row*len(dst) : (row+1)*len(dst)] {
		dst[i] = x.tone[b]
	}
}

// keep puts frames behind each other, from frame first on.
func keep(dst []byte, first int, frames [][]byte) {
	for i, frame := range frames {
		copy(dst[(first+i)*len(frame):], frame)
	}
}

// ActivationsOf is Activations of frames, each a stack of one.
func (x *Agent) ActivationsOf(stacks [][][]byte) ([]agent.Layer, error) {
	p, err := x.probes.Of(len(stacks))
	if err != nil {
		return nil, err
	}
	if err := x.show(p.In, stacks); err != nil {
		return nil, fmt.Errorf("activations: %w", err)
	}
	return p.Run(len(stacks))
}

// show writes what copies see, stacks of one frame, as the networks are given it.
func (x *Agent) show(dst []float32, stacks [][][]byte) error {
	size := x.config.frame()
	for i, stack := range stacks {
		if len(stack) != 1 || len(stack[0]) != size {
			return fmt.Errorf("a stack of %d frames, want one of %d bytes", len(stack), size)
		}
		x.read(dst[i*size:(i+1)*size], observed{frames: stack[0]}, 0)
	}
	return nil
}

// Recall writes the frames that a row of D_real was made from: those of the run's, or of a
// transition that was kept longer. Observations are kept until D_real is made anew.
func (l *Latent) Recall(dst *replay.FrameRow, from agent.Frames, slot int) error {
	return l.history.recall(dst, from, slot)
}

// Met are the newest transitions of observations; nil where frames are seen.
func (l *Latent) Met() *replay.Ring {
	if h, keeps := l.history.(*rowHistory); keeps {
		return h.met.Ring
	}
	return nil
}

// Encode returns what the trunk says of frames, each a stack of one, [stacks,H].
func (l *Latent) Encode(stacks [][][]byte) ([]float32, error) {
	if err := l.prepareEncoder(); err != nil {
		return nil, err
	}
	return l.encode(len(stacks), func(i int) observed { return observed{frames: stacks[i][0]} })
}

// Align returns latents of D_real, or of D_syn, as the heads learn from those of D_syn: as the
// present trunk would say them, as far as is known.
func (l *Latent) Align(z []float32) []float32 {
	if l.config.AlignRows == 0 {
		return z
	}
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
