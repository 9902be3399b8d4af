package relevance

import (
	"pgrlab/core/device"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// pictureSide is the side of the pictures that FrameICM sees.
const pictureSide = 42

// pictures writes the inputs of FrameICM: stacks of frames as images of 42×42 in NHWC order with
// numbers from 0 to 1, and the actions between them. A pixel is the mean of the frame over the
// pixel's area. Images are rotated by 180°: see curiousConvs.
type pictures struct {
	area   areaMean
	stack  int
	factor float32 // by which a sum over an area is multiplied

	rows  []replay.FrameRow // of the work under way
	to    transition
	share func()
}

// transition is the memory of a program's inputs.
type transition struct{ obs, act, next []float32 }

// of returns the memory of the inputs in p.
func (in inputs) of(p *plan.Program) transition {
	return transition{p.Data(in.obs), p.Data(in.act), p.Data(in.next)}
}

func newPictures(f Frames, dev device.Device) *pictures {
	p := &pictures{area: newAreaMean(f.Side, pictureSide), stack: f.Stack, factor: float32(1 / (255 * float64(f.Side*f.Side)))}
	p.share = shared(dev, p.writePart)
	return p
}

// write writes rows to the beginning of to.
func (p *pictures) write(to transition, rows []replay.FrameRow) {
	p.to, p.rows = to, rows
	p.share()
}

func (p *pictures) writePart(part, parts int) {
	image := pictureSide * pictureSide * p.stack * colours
	for i := len(p.rows) * part / parts; i < len(p.rows)*(part+1)/parts; i++ {
		row := &p.rows[i]
		acts := len(row.Action)
		copy(p.to.act[i*acts:(i+1)*acts], row.Action)
		for k := range p.stack {
			p.writeFrame(p.to.obs[i*image:(i+1)*image], row.Stack[k], k)
			p.writeFrame(p.to.next[i*image:(i+1)*image], row.Next[k], k)
		}
	}
}

// writeFrame writes frame k of a stack, its last pixel first.
func (p *pictures) writeFrame(image []float32, frame []byte, k int) {
	var sums [colours]int64
	depth := p.stack * colours
	at := len(image) - depth + k*colours
	for y := range pictureSide {
		for x := range pictureSide {
			p.area.sums(&sums, frame, y, x)
			for c, sum := range sums {
				image[at+c] = float32(sum) * p.factor
			}
			at -= depth
		}
	}
}
