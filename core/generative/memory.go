package generative

import "pgrlab/core/nn"

// Memory estimates how many bytes a generator takes for vectors of that width, without the
// transitions that it makes. The estimate never exceeds the use by much, and it does not
// overflow.
func (c Config) Memory(width int) float64 {
	e, half := c.Embedding, c.Width
	hidden := 4 * float64(e)
	if c.Architecture == ArchitectureSynthER {
		hidden = float64(e)
	} else {
		half /= 2
	}
	parameters := (2*float64(c.Fourier)+2)*hidden + (hidden+1)*float64(e) // of the time
	if c.Conditional {
		parameters += 4*float64(e) + (2*float64(e)+1)*float64(e)
	}
	parameters += nn.Parameters(width, half) + nn.Parameters(e, half) + nn.Parameters(c.Width, width)
	parameters += float64(c.Blocks) * nn.Parameters(c.Width, c.Width)
	return c.bytes(parameters, float64(c.Blocks)*float64(c.Width)+hidden, float64(c.Width)+hidden, width)
}

// bytes estimates the memory of a generator with that many parameters. It counts the trained,
// averaged and served weights, the gradients and Adam's two moments. fitted is how many units
// of a row a fit keeps for its gradients, and sampled how many a sample needs at least.
func (c Config) bytes(parameters, fitted, sampled float64, width int) float64 {
	numbers := 6 * parameters
	numbers += float64(c.Batch) * (fitted + float64(width))
	numbers += 4 * float64(c.Chunk) * (sampled + 3*float64(width)) // programs with guidance, which doubles the rows, and without
	if c.Preconditioning == PreconditioningCovariance {
		numbers += 2 * float64(width) * float64(width)
	}
	return 4 * numbers
}

// Memory is for a variational autoencoder what Config.Memory is for a diffusion model.
func (v VAEConfig) Memory(c Config, width int) float64 {
	block := nn.Parameters(v.Width, v.Bottleneck, v.Width)
	blocks := float64(v.EncoderBlocks) + float64(v.DecoderBlocks)
	parameters := nn.Parameters(width, v.Width) + 2*nn.Parameters(v.Width, v.Latent) +
		nn.Parameters(v.Latent, v.Width) + nn.Parameters(v.Width, width) + blocks*block
	return c.bytes(parameters, blocks*(float64(v.Width)+float64(v.Bottleneck)), float64(v.Width), width)
}
