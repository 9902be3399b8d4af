package lab

import "pgrlab/core/generative"

// Generator is the part of the generator that is fixed for a run; the fields of
// generative.Config are keys of the same table.
type Generator struct {
	Kind  string `toml:"kind"`  // "diffusion", "vae", or "none" for methods on real data only
	Slice int    `toml:"slice"` // gradient steps of a slice of a fit: how long a command may have to wait; 0: one

	generative.Config
	VAE  generative.VAEConfig  `toml:"vae"`  // sizes of kind "vae"; the rest is shared
	Head generative.HeadConfig `toml:"head"` // of either kind
}
