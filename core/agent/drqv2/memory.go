package drqv2

import (
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/nn"
	"pgrlab/core/op"
)

// Memory is roughly how many bytes an agent takes that trains on batches of batch rows and
// shows the layers of looked stacks at a time: never much more than it will take. It does
// not overflow.
func (c Config) Memory(batch, looked int) float64 {
	layers, flat := c.Pixels.Layers()
	words, images, made, encoder := 0.0, 0.0, 0.0, 0.0 // numbers in the place of an image's bytes, of an image, of E's activations for one, of E's weights
	for i, over := range layers {
		if i == 0 {
			words, images = float64(op.Words(over.Size())), float64(over.Size())
		}
		made += float64(over.Places() * c.Pixels.Channels)
		encoder += float64((over.Patch() + 1) * c.Pixels.Channels)
	}
	trunk := nn.Parameters(flat, c.Pixels.Feature) + 2*float64(c.Pixels.Feature)
	policy := nn.Parameters(slices.Concat([]int{c.Pixels.Feature}, c.Hidden, []int{c.Act})...)
	critic := float64(c.Critics) * nn.Parameters(slices.Concat([]int{c.Pixels.Feature + c.Act}, c.Hidden, []int{1})...)
	units := float64(3*c.Pixels.Feature + c.Act)
	for _, width := range c.Hidden {
		units += float64(1+c.Critics) * float64(width)
	}
	numbers := 4 * (encoder + trunk + policy) // weights, gradients, Adam's two moments
	numbers += float64(min(agent.Padded(max(1, looked)), lookRows))*(words+images+made) + float64(min(looked, agent.MaxRows))*units
	if batch > 0 {
		parts, most, last := c.parts(batch)
		rows, programs := float64(most), float64(min(parts, 3))
		numbers += 5*(trunk+critic) + float64(batch)*(float64(flat)+2*units)
		numbers += 2*rows*words + programs*rows*(images+3*made+3*units)
		if last < most {
			numbers += 2 * float64(last) * words
		}
		if parts > 1 {
			numbers += programs * (encoder + trunk + critic)
		}
	}
	return 4 * numbers
}

// latentMemory is Memory for an agent beside a generator. Its updates have programs for
// batches of real rows alone, used before the first generation, and for mixed ones, used
// after it, and both stay. D_real is encoded by a program of its own, and F reads latents.
func (c Config) latentMemory(batch, looked int) float64 {
	total := c.Memory(batch, looked)
	if batch > 0 {
		units := float64(c.Act)
		for _, width := range c.Hidden {
			units += float64(1+2*c.Critics) * float64(width)
		}
		total += c.Memory(batch, 0) - c.Memory(0, 0) + c.Memory(0, lookRows) - c.Memory(0, 1)
		total += 4 * 2 * valueRows * (units + 3*float64(c.latents().Obs))
	}
	return total
}
