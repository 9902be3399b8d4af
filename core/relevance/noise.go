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
// batch; any rows will do, because they are a random sample. The size of the noise follows the
// batch's observations. The noise of an update is indexed by the update's number.
func (m *ICM) disturb() {
	rows, o := m.config.noisyRows(), m.shape.Obs
	if rows == 0 {
		return
	}
	m.noise.FillNormal(m.normals, m.optimiser.T, 0)
	for k, deviation := range m.noiseDeviations() {
		scale := float32(m.config.NoiseStd * deviation)
		for i := range rows {
			m.batch.Obs[i*o+k] += scale * m.normals[2*(i*o+k)]
			m.batch.Next[i*o+k] += scale * m.normals[2*(i*o+k)+1]
		}
	}
}

// noiseDeviations are what NoiseStd is multiplied by, for each dimension.
func (m *ICM) noiseDeviations() []float64 {
	variance := 0.0
	for k := range m.spreads {
		m.spreads[k] = m.deviation(k)
		variance += m.spreads[k] * m.spreads[k] / float64(m.shape.Obs)
	}
	if m.config.NoiseKind == NoiseIsotropic {
		for k := range m.spreads {
			m.spreads[k] = math.Sqrt(variance)
		}
	}
	return m.spreads
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
