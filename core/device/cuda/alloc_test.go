package cuda

import (
	"errors"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/testing/emulator"
)

// idle is a context that can be set to ignore graphs and uploads, so that only the work above the
// driver remains in a run; interpreting PTX allocates.
type idle struct {
	driver.Context
	does *bool
}

type idleGraph struct {
	driver.Graph
	does *bool
}

func (c idle) Capture(record func() error) (driver.Graph, error) {
	g, err := c.Context.Capture(record)
	return idleGraph{g, c.does}, err
}

func (g idleGraph) Launch() error {
	if *g.does {
		return nil
	}
	return g.Graph.Launch()
}

func (c idle) Upload(to driver.Ptr, from []byte) error {
	if *c.does {
		return nil
	}
	return c.Context.Upload(to, from)
}

func (c idle) Synchronize() error {
	if *c.does {
		return nil
	}
	return c.Context.Synchronize()
}

// idleDevice is an emulated device that does nothing once idles is set.
func idleDevice(t *testing.T) (dev *Device, idles *bool) {
	machine, does := emulator.New(emulator.Options{Unchecked: true}), new(bool)
	return deviceOf(t, func() (driver.Context, error) {
		c, err := machine.Open(0)
		return idle{c, does}, err
	}, Options{}), does
}

// An action, a transition and the updates of an env step allocate nothing above the driver.
func TestAnEnvStepDoesNotAllocate(t *testing.T) {
	dev, idles := idleDevice(t)
	c := storied()
	c.Critics = 3
	s := newStory(t, c, dev, 40)
	row, obs, action := s.real.Row(0), make([]float32, shape.Obs), make([]float32, shape.Act)
	acting := agent.Acting{Copies: 1, Obs: obs, Actions: action, Episodes: []uint64{0}}
	step := func() {
		acting.Step = s.updates
		if err := s.agent.Act(&acting); err != nil {
			t.Fatal(err)
		}
		s.real.AddRows(row)
		d := agent.BatchSource{Mixer: s.mixer, Real: s.real, First: s.updates}
		d.Mix.Real = storyBatch
		if _, err := s.agent.UpdateN(storyUpdates, d, s.rates, true); err != nil {
			t.Fatal(err)
		}
		s.updates += storyUpdates
	}
	step()
	*idles = true
	step()
	if n := testing.AllocsPerRun(50, step); n > 0 {
		t.Errorf("%g allocations in an env step", n)
	}
}

// Nor does a program that runs beside others.
func TestARunBesideOthersDoesNotAllocate(t *testing.T) {
	dev, idles := idleDevice(t)
	l := newLine(t, dev)
	run := func() {
		if err := errors.Join(l.program.Start(1), l.program.Run(1)); err != nil {
			t.Fatal(err)
		}
	}
	run()
	*idles = true
	if n := testing.AllocsPerRun(50, run); n > 0 {
		t.Errorf("%g allocations", n)
	}
}
