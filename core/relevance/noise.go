package relevance

import "math"

// noisyRows is how many rows of a batch are disturbed.
func (c ICMConfig) noisyRows() int {
	if c.NoiseStd == 0 {
		return 0
	}
	return int(math.Round(c.NoiseShare * float64(c.Batch)))
}

// disturb adds Gaussian noise to the observations and next observations of the first rows of the
// batch; any rows will do, because they are a random sample. Its deviation is the same in all dimensions
// (Wang et al. 2025, appendix): NoiseStd times the root of the mean variance of the batch's observations. The noise of an update is indexed by the update's number.
func (m *ICM) disturb() {
	rows, o := m.config.noisyRows(), m.shape.Obs
	if rows == 0 {
		return
	}
	m.noise.FillNormal(m.normals, m.optimiser.T, 0)
	variance := 0.0
	for k := range o {
		deviation := m.deviation(k)
		variance += deviation * deviation / float64(o)
	}
	scale := float32(m.config.NoiseStd * math.Sqrt(variance))
	for i := range rows * o {
		m.batch.Obs[i] += scale * m.normals[2*i]
		m.batch.Next[i] += scale * m.normals[2*i+1]
	}
}

// deviation is the standard deviation of dimension k of the batch's observations.
func (m *ICM) deviation(k int) float64 {
	o, n := m.shape.Obs, float64(m.config.Batch)
	mean, square := 0.0, 0.0
	for i := range m.config.Batch {
		mean += float64(m.batch.Obs[i*o+k]) / n
	}
	for i := range m.config.Batch {
		d := float64(m.batch.Obs[i*o+k]) - mean
		square += d * d / n
	}
	return math.Sqrt(square)
}
