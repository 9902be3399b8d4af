package images

import (
	"errors"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/window"
)

// Batch is the images of a batch, of which there may be several for each row: of s, and of s′.
type Batch struct {
	store  *Store
	frames window.Frames
	stack  int
	images []*op.Tensor // [rows,Words(size)] each

	picks   *op.Tensor    // [rows,len(images)·(stack+2)], the places of a stack's frames and its shift; nil: the host always makes the images
	program *plan.Program // nil before it is needed
	changed int           // store.changed at the time when the program was compiled
}

// NewBatch returns the images with these names, of stacks of frames. Stack says how many frames one
// has.
func NewBatch(dev device.Device, store *Store, frames window.Frames, stack, rows int, names ...string) (*Batch, error) {
	b := &Batch{store: store, frames: frames, stack: stack}
	for _, name := range names {
		b.images = append(b.images, op.NewTensor(name, rows, op.Words(stack*frames.Size())))
	}
	if store.dev == nil {
		return b, nil
	}
	b.picks = op.NewTensor("picks", rows, len(names)*(stack+2))
	return b, plan.Push(dev, b.images...) // the device writes them
}

// Image is the tensor of the i-th name.
func (b *Batch) Image(i int) *op.Tensor { return b.images[i] }

// Set says what image row of the i-th name is: a stack of frames, their places in the store's
// source, and the shift down and across (window.Frames). Several goroutines may call it for
// different rows.
func (b *Batch) Set(i, row int, stack [][]byte, places []int, down, across int) {
	if !b.store.Held() {
		words := len(b.images[i].Data) / b.images[i].Shape[0]
		b.frames.StackBytes(device.Bytes(b.images[i].Data[row*words:(row+1)*words]), stack, down, across)
		return
	}
	at := (row*len(b.images) + i) * (b.stack + 2)
	pick := b.picks.Data[at : at+b.stack+2]
	for k, place := range places[:b.stack] {
		pick[k] = float32(place)
	}
	pick[b.stack], pick[b.stack+1] = float32(down), float32(across)
}

// Make makes the images as set says, which calls Set for all of them. It may call it twice: if the
// device has no memory to make them, the host does so until Retake.
func (b *Batch) Make(dev device.Device, occasion uint64, set func() error) error {
	if err := set(); err != nil || b.picks == nil {
		return err
	}
	if b.store.Held() {
		err := b.run(occasion)
		if err == nil {
			return nil
		}
		if full := (*device.OutOfMemory)(nil); !errors.As(err, &full) {
			return err
		}
		if err := errors.Join(b.Close(), b.store.leave(), set()); err != nil {
			return err
		}
	}
	return plan.Push(dev, b.images...) // the device keeps the tensors
}

// run has the device make the images.
func (b *Batch) run(occasion uint64) error {
	if b.program == nil || b.changed != b.store.changed {
		if err := b.compile(); err != nil {
			return err
		}
	}
	return b.program.Run(occasion)
}

func (b *Batch) compile() error {
	if err := b.Close(); err != nil {
		return err
	}
	var err error
	b.changed = b.store.changed
	b.program, err = plan.CompileRoutine("stack frames", plan.StackFrames{
		From: b.store.store, Height: b.frames.Height, Width: b.frames.Width, Channels: b.frames.Channels,
		Pad: b.frames.Pad, Stack: b.stack, Picks: b.picks, To: b.images,
	}, b.store.dev)
	return err
}

// Close frees the compiled program.
func (b *Batch) Close() error {
	p := b.program
	b.program = nil
	if p == nil {
		return nil
	}
	return p.Close()
}
