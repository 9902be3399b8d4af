package relevance

import (
	"math"

	"pgrlab/core/device"
	"pgrlab/core/replay"
)

// frameWhitener is a whitener of stacks of frames: a dimension is a byte of one of the frames,
// frame by frame. Sums over a batch are integers, so their order does not matter.
type frameWhitener struct {
	whitener
	frames       Frames
	sums         []uint64 // of a batch, [width]
	squares      []uint64
	less, factor []float32 // what whitening subtracts from a byte, and the factor of the difference

	rows              []replay.FrameRow // of the work under way
	dst               []float32
	add, shift, write func()
}

func newFrameWhitener(name string, f Frames, dev device.Device) *frameWhitener {
	n := f.Stack * f.size()
	w := &frameWhitener{
		whitener: newWhitener(name, n), frames: f, sums: make([]uint64, n), squares: make([]uint64, n),
		less: make([]float32, n), factor: make([]float32, n),
	}
	w.add, w.shift, w.write = shared(dev, w.addPart), shared(dev, w.shiftPart), shared(dev, w.writePart)
	return w
}

// see adds the stacks of s′ of rows.
func (w *frameWhitener) see(rows []replay.FrameRow) {
	w.rows = rows
	w.add()
	w.setCount(w.count() + float64(len(rows)))
}

// addPart adds a part of the bytes of all rows.
func (w *frameWhitener) addPart(part, parts int) {
	size := w.frames.size()
	lo, hi := size*part/parts, size*(part+1)/parts
	before, added := w.count(), float64(len(w.rows))
	for k := range w.frames.Stack {
		sums, squares := w.sums[k*size+lo:k*size+hi], w.squares[k*size+lo:k*size+hi]
		clear(sums)
		clear(squares)
		for i := range w.rows {
			for j, v := range w.rows[i].Next[k][lo:hi] {
				sums[j] += uint64(v)
				squares[j] += uint64(v) * uint64(v)
			}
		}
		for j, sum := range sums {
			mean := float64(sum) / added
			w.merge(k*size+lo+j, mean, float64(squares[j])-mean*float64(sum), before, added)
		}
	}
}

// prepare computes less and factor from the statistics.
func (w *frameWhitener) prepare() { w.shift() }

func (w *frameWhitener) shiftPart(part, parts int) {
	n := w.count()
	for k := w.width * part / parts; k < w.width*(part+1)/parts; k++ {
		scale := 1.0
		if n > 0 {
			scale = math.Sqrt(float64(w.variance.Data[k])) + 1e-8
		}
		w.less[k], w.factor[k] = w.mean.Data[k], float32(1/scale)
	}
}

// whiten writes the stacks of s′ of rows as images in NHWC order, scaled and clipped to ±5: [rows,
// Side·Side·Stack·3]. It uses the statistics as of the last call of prepare.
func (w *frameWhitener) whiten(dst []float32, rows []replay.FrameRow) {
	w.dst, w.rows = dst, rows
	w.write()
}

func (w *frameWhitener) writePart(part, parts int) {
	for i := len(w.rows) * part / parts; i < len(w.rows)*(part+1)/parts; i++ {
		image := w.dst[i*w.width : (i+1)*w.width]
		for k, frame := range w.rows[i].Next {
			w.writeFrame(image, frame, k)
		}
	}
}

// writeFrame writes frame k of a stack.
func (w *frameWhitener) writeFrame(image []float32, frame []byte, k int) {
	size, depth := w.frames.size(), w.frames.Stack*colours
	less, factor := w.less[k*size:(k+1)*size], w.factor[k*size:(k+1)*size]
	frame = frame[:size]
	for j, at := 0, k*colours; j+2 < len(frame); j, at = j+colours, at+depth {
		out, b, l, f := image[at:at+colours:at+colours], frame[j:j+colours], less[j:j+colours], factor[j:j+colours]
		out[0] = min(max((float32(b[0])-l[0])*f[0], -whitenedBound), whitenedBound)
		out[1] = min(max((float32(b[1])-l[1])*f[1], -whitenedBound), whitenedBound)
		out[2] = min(max((float32(b[2])-l[2])*f[2], -whitenedBound), whitenedBound)
	}
}
