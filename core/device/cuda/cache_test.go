package cuda

import (
	"errors"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// cached is a program that samples from a cache, and one that has nothing to do with it.
type cached struct {
	rows     *replay.Ring
	cache    device.Store
	sampling *sampling
	line     *line
}

func newCached(t *testing.T, dev *Device) *cached {
	t.Helper()
	shape := replay.Shape{Obs: 2, Act: 1}
	c := &cached{rows: ring(shape, 7)}
	var err error
	if c.cache, err = dev.Cache(c.rows.Cap(), shape.Width()); err != nil {
		t.Fatal(err)
	}
	put(t, c.cache, c.rows)
	c.sampling = newSampling(t, dev, shape, 5, replay.NewMixer(rng.New(1, "rows")), [2]device.Store{c.cache, nil})
	c.sampling.mix = device.Mix{First: 5, Held: [2]int{7, 0}}
	c.line = newLine(t, dev)
	return c
}

// sampled is what was sampled last.
func (c *cached) sampled(t *testing.T, dev *Device) (all []float32) {
	t.Helper()
	if err := plan.Fetch(dev, c.sampling.tensors...); err != nil {
		t.Fatal(err)
	}
	for _, x := range c.sampling.tensors {
		all = append(all, x.Data...)
	}
	return all
}

// A cache gives its memory up also while a program that reads it is bound, whichever allocation finds
// none: the program says so, or reads rows that are there, and never memory that was freed.
func TestACacheYieldsToItsOwnReader(t *testing.T) {
	if onGPU {
		t.Skip("it is the emulated driver's: without PGRLAB_GPU")
	}
	t.Run("alone", func(t *testing.T) {
		yieldsToItsReader(t, func(dev *Device, c *cached) (func() error, error) {
			return func() error { return c.sampling.program.Run(3) }, nil
		})
	})
	t.Run("in a sequence", func(t *testing.T) {
		yieldsToItsReader(t, func(dev *Device, c *cached) (func() error, error) {
			s, err := plan.NewSequence(dev, []*plan.Program{c.sampling.program, c.line.program})
			return func() error { return s.Run([]uint64{3, 0}) }, err
		})
	})
}

func yieldsToItsReader(t *testing.T, prepare func(*Device, *cached) (run func() error, err error)) {
	yields := 0
	for nth, reached := 1, true; reached; nth++ {
		f := newFaulty()
		dev, err := f.device()
		if err != nil {
			t.Fatal(err)
		}
		c := newCached(t, dev)
		run, err := prepare(dev, c)
		if err != nil {
			t.Fatal(err)
		}
		if err := run(); err != nil {
			t.Fatal(err)
		}
		want := c.sampled(t, dev)
		if err := errors.Join(dev.Park(), dev.Wake()); err != nil {
			t.Fatal(err)
		}
		put(t, c.cache, c.rows)
		lost := c.cache.Lost()
		f.failNext("cuMemAlloc", nth, 2)
		err = run()
		reached = f.calls["cuMemAlloc"] >= f.nth
		full := (*device.OutOfMemory)(nil)
		if err != nil && !errors.As(err, &full) {
			t.Fatalf("allocation %d found no memory: %v", nth, err)
		}
		if gone := c.cache.Lost() > lost; gone != (err != nil) {
			t.Fatalf("allocation %d found no memory: %v, and the rows are lost: %v", nth, err, gone)
		} else if gone {
			yields++
			put(t, c.cache, c.rows)
			if err := run(); err != nil {
				t.Fatal(err)
			}
		}
		close32(t, "the rows", c.sampled(t, dev), want, 0)
		if err := dev.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if yields == 0 {
		t.Error("the cache has never given its memory up")
	}
}
