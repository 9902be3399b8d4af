package generative

// Denoiser estimates the clean vectors D(x; σ) behind noisy ones. dst and x hold
// the same number of rows and do not overlap.
type Denoiser interface {
	Denoise(dst, x []float32, sigma float64) error
}

// ConditionalDenoiser estimates with the prompts of its rows, without, or both at
// the price of one network call.
type ConditionalDenoiser interface {
	With(dst, x []float32, sigma float64) error
	Without(dst, x []float32, sigma float64) error
	Both(with, without, x []float32, sigma float64) error
}

// Guided returns classifier-free guidance of strength omega over d,
//
//	D = D_∅ + ω(D_c − D_∅)
//
// (Ho and Salimans 2021), so that samplers never hear of guidance. The released
// code mixes the slopes (x − D)/σ, which is the same. ω = 0 and ω = 1 need one of
// the two estimates only. The result is reused by nobody else: one Guided per
// sampler.
func Guided(d ConditionalDenoiser, omega float64) Denoiser {
	switch omega {
	case 0:
		return unconditioned{d}
	case 1:
		return conditioned{d}
	}
	return &guided{denoiser: d, omega: float32(omega)}
}

type conditioned struct{ denoiser ConditionalDenoiser }

func (d conditioned) Denoise(dst, x []float32, sigma float64) error {
	return d.denoiser.With(dst, x, sigma)
}

type unconditioned struct{ denoiser ConditionalDenoiser }

func (d unconditioned) Denoise(dst, x []float32, sigma float64) error {
	return d.denoiser.Without(dst, x, sigma)
}

type guided struct {
	denoiser ConditionalDenoiser
	omega    float32
	without  []float32
}

// Denoise mixes estimates that are clamped already where the normaliser clamps,
// as the released code does: the mixture may leave [-1,1] until the last step.
func (d *guided) Denoise(dst, x []float32, sigma float64) error {
	if len(d.without) != len(x) {
		d.without = make([]float32, len(x))
	}
	if err := d.denoiser.Both(dst, d.without, x, sigma); err != nil {
		return err
	}
	for i, u := range d.without {
		dst[i] = u + d.omega*(dst[i]-u)
	}
	return nil
}

// corrector returns what the second evaluation of a Heun step uses.
func corrector(d ConditionalDenoiser, kind string, omega float64) Denoiser {
	if kind == CorrectorConditional && omega != 0 {
		return conditioned{d}
	}
	return Guided(d, omega)
}
