package agent_test

import (
	"testing"

	"pgrlab/core/agent"
)

// The first cases are the sizes that DrQ-v2 flattens (facebookresearch/drqv2: drqv2.py, repr_dim);
// the others are those of smaller images.
func TestLayersOfPixels(t *testing.T) {
	small := agent.DefaultPixels
	small.Side, small.Strides = 64, []int{2, 2, 1, 1}
	for _, c := range []struct {
		pixels agent.Pixels
		first  int // numbers that one image gives
		flat   int
	}{
		{agent.DefaultPixels, 84 * 84 * 9, 32 * 35 * 35},
		{small, 64 * 64 * 9, 32 * 11 * 11},
	} {
		if err := c.pixels.Validate(); err != nil {
			t.Fatal(err)
		}
		over, flat := c.pixels.Layers()
		if len(over) != len(c.pixels.Strides) || over[0].Size() != c.first || flat != c.flat {
			t.Errorf("%+v: %d layers of images of %d become %d numbers, want images of %d and %d", c.pixels, len(over), over[0].Size(), flat, c.first, c.flat)
		}
		for _, g := range over {
			if err := g.Check(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestPixelsThatDoNotFit(t *testing.T) {
	for name, change := range map[string]func(*agent.Pixels){
		"no side":                  func(p *agent.Pixels) { p.Side = 0 },
		"no frames":                func(p *agent.Pixels) { p.Stack = 0 },
		"a negative shift":         func(p *agent.Pixels) { p.Pad = -1 },
		"no channels":              func(p *agent.Pixels) { p.Channels = 0 },
		"no feature":               func(p *agent.Pixels) { p.Feature = 0 },
		"no convolutions":          func(p *agent.Pixels) { p.Strides = nil },
		"a stride of nothing":      func(p *agent.Pixels) { p.Strides = []int{2, 0} },
		"strides beyond the frame": func(p *agent.Pixels) { p.Side, p.Strides = 16, []int{2, 2, 2, 1} },
	} {
		p := agent.DefaultPixels
		change(&p)
		if err := p.Validate(); err == nil {
			t.Errorf("%s is let pass: %+v", name, p)
		}
	}
}
