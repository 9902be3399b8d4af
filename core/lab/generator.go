package lab

import (
	"pgrlab/core/generative"
	"pgrlab/core/relevance"
)

// Generator is the part of the generator that is fixed for a run; the fields of
// generative.Config are keys of the same table.
type Generator struct {
	Kind  string `toml:"kind"`  // "diffusion", "vae", or "none" for methods on real data only
	Slice int    `toml:"slice"` // gradient steps of a slice of a fit: how long a command may have to wait; 0: one

	generative.Config
	VAE generative.VAEConfig `toml:"vae"` // sizes of kind "vae"; the rest is shared
}

// Curiosity is the part of the intrinsic curiosity model that is fixed for a run;
// the fields of relevance.ICMConfig are keys of the same table.
type Curiosity struct {
	Every  int `toml:"every"`  // critic updates between updates of the model; 0: one per env step, after its last critic update
	Warmup int `toml:"warmup"` // most updates that it makes up for when it was not in use before a refit

	relevance.ICMConfig
}

// RND is the part of random network distillation that is fixed for a run; the fields
// of relevance.RNDConfig are keys of the same table.
type RND struct {
	Every  int `toml:"every"`  // critic updates between updates of the predictor; 0: one per env step, after its last critic update
	Warmup int `toml:"warmup"` // most updates that it makes up for when it was not in use before a refit

	relevance.RNDConfig
}

// Count is the part of pseudo-counts that is fixed for a run.
type Count struct{ relevance.CountConfig }
