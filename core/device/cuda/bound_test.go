package cuda

import (
	"errors"
	"testing"

	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/plan"
)

// sparing is a context that captures a given number of graphs and then refuses one.
type sparing struct {
	driver.Context
	left int
}

func (c *sparing) Capture(record func() error) (driver.Graph, error) {
	if c.left--; c.left == -1 {
		return nil, errors.New("no graph")
	}
	return c.Context.Capture(record)
}

// If not all graphs of a run can be captured, that run does nothing, and the next run does
// everything.
func TestACaptureThatFails(t *testing.T) {
	dev := card(t, Options{})
	dev.longest = 0 // a graph for each step
	l, want := newLine(t, dev), newLine(t, onCPU(t))
	dev.ctx = &sparing{dev.ctx, 1}
	if err := l.program.Run(0); err == nil {
		t.Fatal("it ran without its graphs")
	}
	l.run(t, 1)
	want.run(t, 1)
	if err := plan.Fetch(dev, l.w); err != nil {
		t.Fatal(err)
	}
	close32(t, "w", l.w.Data, want.w.Data, 1e-5)
}
