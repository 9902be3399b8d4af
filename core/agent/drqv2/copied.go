package drqv2

import (
	"errors"
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// copied is a copy of the frames in the memory of a device that makes the images of batches itself.
// The host then names frames and shifts, some bytes a row, instead of writing images.
type copied struct {
	dev    device.Sequencer
	store  device.Store // nil before there is one
	places int          // that the store has room for
	seen   replay.Copied
	lost   int                                 // store.Lost() when the store last followed the frames
	row    []float32                           // a frame, in whole words
	put    func(place int, frame []byte) error // write
	// changed counts the stores that were allocated. A program that stacks frames of a store that
	// has been replaced since is compiled anew.
	changed int
}

func newCopied(dev device.Sequencer, size int) *copied {
	c := &copied{dev: dev, row: make([]float32, op.Words(size))}
	c.put = c.write // once, so that an update allocates nothing
	return c
}

// leastPlaces is the smallest store. It grows with the frames, so that a short run with a large
// replay takes little.
const leastPlaces = 1 << 10

// mostPlaces is the number of places that a float32 can name.
const mostPlaces = 1 << 24

// follow copies the frames that are new to the device, or all of them if the device holds others or
// has lost them.
func (c *copied) follow(from agent.PlacedFrames) error {
	held, most := from.Places()
	if held > mostPlaces {
		return &device.OutOfMemory{Err: fmt.Errorf("%d frames are more than a number names", held)}
	}
	if held > c.places {
		if err := c.reserve(min(most, max(leastPlaces, 2*held))); err != nil {
			return err
		}
	}
	if c.store == nil {
		return nil
	}
	if lost := c.store.Lost(); lost != c.lost {
		c.seen, c.lost = replay.Copied{}, lost
	}
	return from.Copy(&c.seen, c.put)
}

// write copies a frame to its place.
func (c *copied) write(place int, frame []byte) error {
	copy(device.Bytes(c.row), frame)
	return c.store.Put(place, c.row)
}

// reserve replaces the store by one with that many places.
func (c *copied) reserve(places int) error {
	if err := c.close(); err != nil {
		return err
	}
	c.changed++
	var err error
	if c.store, err = c.dev.Store(places, len(c.row)); err != nil {
		return err
	}
	c.places, c.lost = places, c.store.Lost()
	return nil
}

func (c *copied) close() (err error) {
	if c.store != nil {
		err = c.store.Close()
	}
	c.store, c.places, c.seen = nil, 0, replay.Copied{}
	return err
}

// copyFrames brings the device's copy of the frames up to date. If there is no memory for one, or
// the frames have no places, the host makes the images from then on.
func (x *Agent) copyFrames(from agent.Frames) error {
	if x.copied == nil || from == nil {
		return nil
	}
	err := error(nil)
	if placed, ok := from.(agent.PlacedFrames); ok {
		if err = x.copied.follow(placed); err == nil {
			return nil
		}
		if full := (*device.OutOfMemory)(nil); !errors.As(err, &full) {
			return fmt.Errorf("agent: %w", err)
		}
	}
	err = x.copied.close()
	x.copied = nil
	for _, u := range x.updaters { // their images are the device's
		err = errors.Join(err, u.close())
	}
	x.updaters = nil
	return err
}

// stacked is the program by which the device makes the images of a batch.
type stacked struct {
	picks   *op.Tensor // [rows,2·(Stack+2)]: of s and s′ the places of the frames, and the shift
	program *plan.Program
	changed int // copied.changed at the time when it was compiled
}

// picked is where the picks of a row's s or s′ are.
func (s *stacked) picked(i, stack, which int) []float32 {
	at := (2*i + which) * (stack + 2)
	return s.picks.Data[at : at+stack+2]
}

// pick names the frames of a stack and their shift.
func pick(dst []float32, places []int, down, across int) {
	for k, place := range places {
		dst[k] = float32(place)
	}
	dst[len(places)], dst[len(places)+1] = float32(down), float32(across)
}

// stack makes the images of a batch on the device.
func (b *batch) stack() error {
	s, c := b.stacked, b.x.copied
	if s.program == nil || s.changed != c.changed {
		if err := s.close(); err != nil {
			return err
		}
		var err error
		of := b.x.frames
		s.program, err = plan.CompileRoutine("stack frames", plan.StackFrames{
			From: c.store, Height: of.Height, Width: of.Width, Channels: of.Channels, Pad: of.Pad,
			Stack: b.x.config.Pixels.Stack, Picks: s.picks, To: []*op.Tensor{b.images, b.next},
		}, c.dev)
		if err != nil {
			return err
		}
		s.changed = c.changed
	}
	return s.program.Run(b.occasion)
}

func (s *stacked) close() error {
	p := s.program
	s.program = nil
	if p == nil {
		return nil
	}
	return p.Close()
}
