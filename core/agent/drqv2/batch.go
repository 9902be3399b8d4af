package drqv2

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/agent/images"
	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/replay"
)

// batch is a part of a batch as programs read it: rows rows, from row number first on.
type batch struct {
	rows                  int
	images, next          *op.Tensor // [rows,Words(size)] of s and s′, shifted, as bytes
	action, ret, discount *op.Tensor // [rows,A], [rows,1], [rows,1]

	made *images.Batch // images and next

	x        *Agent
	frames   agent.Frames
	first    int
	occasion uint64
	drawn    []replay.FrameRow // a row for each worker
	failed   []error           // of each worker
	gather   func()
	set      func() error // draw
}

// workers bounds the number of parts in which a device has the rows copied.
const workers = 128

func (x *Agent) newBatch(rows int) (*batch, error) {
	stack := x.config.Pixels.Stack
	made, err := images.NewBatch(x.dev, x.store, x.frames, stack, rows, "s", "s'")
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	b := &batch{
		rows: rows, x: x, made: made, images: made.Image(0), next: made.Image(1),
		action: op.NewTensor("a", rows, x.config.Act), ret: op.NewTensor("R", rows, 1), discount: op.NewTensor("discount", rows, 1),
		drawn: make([]replay.FrameRow, workers), failed: make([]error, workers),
	}
	for i := range b.drawn {
		b.drawn[i] = replay.FrameRow{Stack: make([][]byte, stack), Next: make([][]byte, stack), Places: make([]int, stack), NextPlaces: make([]int, stack)}
	}
	b.gather = func() { b.share(0, 1) }
	if dev, shares := x.dev.(device.Sharer); shares {
		b.gather = dev.Share(b.share)
	}
	b.set = b.draw // once, so that an update allocates nothing
	return b, nil
}

// fill draws rows first, first+1, … of the batch of an occasion.
func (b *batch) fill(frames agent.Frames, occasion uint64, first int) error {
	if frames == nil {
		return fmt.Errorf("agent: a batch of frames, but the task is not observed by frames")
	}
	b.frames, b.occasion, b.first = frames, occasion, first
	if err := b.made.Make(b.x.dev, occasion, b.set); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	return nil
}

// draw draws all rows.
func (b *batch) draw() error {
	clear(b.failed)
	b.gather()
	for _, err := range b.failed {
		if err != nil {
			return fmt.Errorf("draw a batch: %w", err)
		}
	}
	return nil
}

// share fills one of several parts of the rows.
func (b *batch) share(part, parts int) {
	if part >= workers {
		panic("drqv2: a device with more workers than rows are shared among")
	}
	for i := b.rows * part / parts; i < b.rows*(part+1)/parts; i++ {
		if err := b.row(i, &b.drawn[part]); err != nil {
			b.failed[part] = err
			return
		}
	}
}

// row draws row i and writes it, with shifts of its own for s and s′.
func (b *batch) row(i int, r *replay.FrameRow) error {
	x, c := b.x, &b.x.config
	if err := b.frames.Draw(r, c.NStep, c.Gamma, b.occasion, b.first+i); err != nil {
		return err
	}
	shift := x.shifts(b.occasion, b.first+i)
	b.made.Set(0, i, r.Stack, r.Places, shift[0], shift[1])
	b.made.Set(1, i, r.Next, r.NextPlaces, shift[2], shift[3])
	if row := b.first + i; row < len(x.crops) {
		x.crops[row] = cropped{r.Stack[len(r.Stack)-1], shift[0], shift[1]}
	}
	copy(b.action.Data[i*c.Act:(i+1)*c.Act], r.Action)
	b.ret.Data[i], b.discount.Data[i] = r.Return, r.Discount
	return nil
}

// shifts returns the shifts of a row of an update's batch: down and across, of s and of s′.
func (x *Agent) shifts(occasion uint64, row int) (all [4]int) {
	for i, word := range x.streams.shift.Block(occasion, uint64(row)) {
		all[i] = int(uint64(word) * uint64(x.frames.Shifts()) >> 32)
	}
	return all
}
