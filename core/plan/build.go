package plan

import (
	"pgrlab/core/device"
	"pgrlab/core/op"
)

// Build compiles the graph that build makes for the Spec that build returns.
func Build(name string, dev device.Device, build func(g *op.Graph) Spec) (*Program, error) {
	var spec Spec
	g, err := op.Build(name, func(g *op.Graph) { spec = build(g) })
	if err != nil {
		return nil, err
	}
	return Compile(g, spec, dev)
}
