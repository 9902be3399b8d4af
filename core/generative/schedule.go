package generative

import "math"

// noiseLevels returns the n levels of the sampler and a final 0: σ_i =
// (σ_max^{1/ρ} + i/(n−1)·(σ_min^{1/ρ} − σ_max^{1/ρ}))^ρ (Karras et al. 2022,
// equation 5). n must be at least 2.
func noiseLevels(c Config, n int) []float64 {
	levels := make([]float64, n+1)
	high, low := math.Pow(c.SigmaMax, 1/c.Rho), math.Pow(c.SigmaMin, 1/c.Rho)
	for i := range n {
		levels[i] = math.Pow(high+float64(i)/float64(n-1)*(low-high), c.Rho)
	}
	return levels
}

// churn returns γ of one level: how far the sampler raises the noise before it
// denoises, as a share of σ (Karras et al. 2022, Algorithm 2).
func churn(c Config, sigma, sChurn float64, levels int) float64 {
	if sigma < c.STmin || sigma > c.STmax {
		return 0
	}
	return math.Min(sChurn/float64(levels), math.Sqrt2-1)
}

// precondition returns c_skip, c_out and c_in (Karras et al. 2022, table 1) of a
// coordinate of that spread.
func precondition(sigma, spread float64) (skip, out, in float64) {
	square := sigma*sigma + spread*spread
	root := math.Sqrt(square)
	return spread * spread / square, sigma * spread / root, 1 / root
}

// noiseInput returns c_noise (Karras et al. 2022, table 1).
func noiseInput(sigma float64) float64 { return math.Log(sigma) / 4 }

// cosine returns the learning rate of gradient step 0 ≤ step < steps, falling
// from base to 0 (Loshchilov and Hutter 2017; PyTorch's CosineAnnealingLR with
// T_max = steps). The horizon is the true number of steps: with a longer one the
// rate would never come down.
func cosine(base float64, step, steps int) float64 {
	return base / 2 * (1 + math.Cos(math.Pi*float64(step)/float64(steps)))
}

// emaDecay returns the weight of the old average in the update that follows
// gradient step number step ≥ 1; 0 means a plain copy. It is the warm-up of
// lucidrains/ema-pytorch (ema_pytorch/ema_pytorch.py) with its defaults inv_gamma
// 1 and power 2/3. Without it the random initial weights would stay visible in
// the average for thousands of steps.
func emaDecay(c Config, step int) float64 {
	// The average is a copy up to EMAAfter, and once more at the first update after it.
	if step-1-c.EMAEvery <= c.EMAAfter {
		return 0
	}
	epoch := float64(step - c.EMAAfter - 1)
	return math.Min(c.EMADecay, 1-math.Pow(1+epoch, -2.0/3))
}

// emaDue says whether gradient step number step ≥ 1 is followed by an update of the
// average. The reference counts from 0: with EMAEvery = 10 these are steps 1, 11, 21, …
func emaDue(c Config, step int) bool { return (step-1)%c.EMAEvery == 0 }
