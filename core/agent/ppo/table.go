package ppo

import (
	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// table is a copy of a rollout's acted in the memory of a device apart, from which its steps gather their rows: the
// host names them instead of copying them. It is nil for other devices, and for frames, which have a reel.
type table struct {
	rows *op.Tensor // [Rows,O+A]
	of   uint64     // rollout.gathered, of the rows that are there
}

func newTable(c Config, dev device.Device) *table {
	if _, apart := dev.(device.Mirror); !apart || c.Side > 0 {
		return nil
	}
	return &table{rows: op.NewTensor("rollout", c.rows(), c.numbers()+c.Shape.Act)}
}

// follow copies a rollout to the device, unless its rows are there.
func (t *table) follow(r *rollout, dev device.Device) error {
	if t.of == r.gathered {
		return nil
	}
	copy(t.rows.Data, r.acted)
	if err := plan.Push(dev, t.rows); err != nil {
		return err
	}
	t.of = r.gathered
	return nil
}

// taken builds observations and actions of the rows that index [n,1] names.
func (t *table) taken(g *op.Graph, c Config, index *op.Node) (seen, action *op.Node) {
	both := g.Gather(g.Bind(t.rows), index)
	return g.Slice(both, 0, c.numbers()), g.Slice(both, c.numbers(), c.numbers()+c.Shape.Act)
}
