package analysis

import "math"

// Layer is the output of one linear layer of a network for a batch of states. It has
// the fields of agent.Layer.
type Layer struct {
	Name        string
	Pre         []float32 // [Rows,Units], the layer's own output
	Post        []float32 // [Rows,Units], after the activation; nil for an output
	Rows, Units int
	Output      bool // a layer without an activation: a head
}

// DormantSokar returns the share of dormant neurons as defined by Sokar et al. 2023,
// equation 1: neuron i of a hidden layer has the score E|hᵢ| / (meanₖ E|hₖ| + 1e-9) of
// its activations, and is dormant if the score is at most tau. Outputs do not count
// (google/dopamine: dopamine/labs/redo/weight_recyclers.py). The share is NaN if no
// neuron counts.
func DormantSokar(layers []Layer, tau float64) float64 {
	const slack = 1e-9
	var c count
	for _, l := range layers {
		if l.Output {
			continue
		}
		magnitudes, mean := magnitudes(l.Post, l.Rows, l.Units)
		for _, m := range magnitudes {
			c.add(m/(mean+slack) <= tau)
		}
	}
	return c.share()
}

// DormantDrM returns the share of dormant neurons as defined by Xu et al. 2024 (DrM):
// neuron i of any linear layer, outputs included, is dormant if E|zᵢ| < tau·meanₖ E|zₖ|
// of the layer's own outputs, before the activation (XuGW-Kevin/DrM: utils.py,
// cal_dormant_ratio). By this definition a layer that outputs only zeros has no dormant
// neuron. The share is NaN without neurons.
func DormantDrM(layers []Layer, tau float64) float64 {
	var c count
	for _, l := range layers {
		magnitudes, mean := magnitudes(l.Pre, l.Rows, l.Units)
		for _, m := range magnitudes {
			c.add(m < tau*mean)
		}
	}
	return c.share()
}

// magnitudes returns E|x| over rows for each unit, and the mean over units.
func magnitudes(x []float32, rows, units int) (each []float64, mean float64) {
	each = make([]float64, units)
	for row := range rows {
		for unit, v := range x[row*units : (row+1)*units] {
			each[unit] += math.Abs(float64(v))
		}
	}
	for unit := range each {
		each[unit] /= float64(rows)
		mean += each[unit] / float64(units)
	}
	return each, mean
}

// count counts neurons and the dormant ones among them.
type count struct{ dormant, all int }

func (c *count) add(dormant bool) {
	c.all++
	if dormant {
		c.dormant++
	}
}

func (c *count) share() float64 {
	if c.all == 0 {
		return math.NaN()
	}
	return float64(c.dormant) / float64(c.all)
}
