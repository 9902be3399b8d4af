package ppo

import (
	"pgrlab/core/agent"
	"pgrlab/core/agent/images"
	"pgrlab/core/device"
	"pgrlab/core/plan"
	"pgrlab/core/window"
)

// reel makes the images of a step's rows, of the frames of a rollout.
type reel struct {
	x      *Agent
	store  *images.Store
	images *images.Batch // [part,frame], of one frame each, not shifted
	rows   []int         // of the rollout, whose images are being made
	share  func()        // sets them
	draw   func() error  // the same
	places []int         // [Rows], 0, 1, …
}

func newReel(x *Agent) (*reel, error) {
	c := x.config
	f := &reel{x: x, store: images.NewStore(x.dev, c.frame()), places: make([]int, c.rows())}
	for i := range f.places {
		f.places[i] = i
	}
	f.share = func() { f.set(0, 1) }
	if shares, can := x.dev.(device.Sharer); can {
		f.share = shares.Share(f.set)
	}
	f.draw = func() error { f.share(); return nil }
	of := window.Frames{Height: c.Side, Width: c.Side, Channels: agent.Colours}
	var err error
	f.images, err = images.NewBatch(x.dev, f.store, of, 1, c.part(), "s")
	return f, err
}

// make makes the images of some rows of the rollout.
func (f *reel) make(rows []int, occasion uint64) error {
	if err := f.store.Follow(&f.x.rollout.Rollout); err != nil {
		return err
	}
	f.rows = rows
	return f.images.Make(f.x.dev, occasion, f.draw)
}

// set sets one of several parts of the images.
func (f *reel) set(part, parts int) {
	n := len(f.rows)
	var stack [1][]byte
	for i := n * part / parts; i < n*(part+1)/parts; i++ {
		row := f.rows[i]
		stack[0] = f.x.rollout.Row(row).Seen.Frame
		f.images.Set(0, i, stack[:], f.places[row:row+1], 0, 0)
	}
}

// Remark says that the device's copy of the frames had to go, or is back.
func (x *Agent) Remark() string {
	if x.filmed == nil {
		return ""
	}
	return x.filmed.store.Remark()
}

// Close frees the program and the device's copy; it does nothing with a nil reel.
func (f *reel) Close() error {
	if f == nil {
		return nil
	}
	return plan.Close(f.images, f.store)
}
