package generative

import (
	"fmt"
	"slices"

	"pgrlab/core/generative/mlp"
)

// The choices of Config's text fields.
const (
	// ArchitectureSynthER adds the time embedding to the projected vector
	// (conglu1997/SynthER: synther/diffusion/denoiser_network.py). The embedding of
	// a condition is added in the same way, as the text of the PGR paper describes.
	ArchitectureSynthER = mlp.SynthER
	// ArchitecturePGR is the trunk of the released code: the projected vector and
	// the projected embeddings side by side, each with half of the width
	// (renwang435/pgr: synther/diffusion/denoiser_network_cond.py).
	ArchitecturePGR = mlp.PGR

	// NormaliserMinMax maps every dimension to [-1,1], as the released PGR
	// configuration does; the sampler then clamps every estimate.
	NormaliserMinMax = "minmax"
	// NormaliserStandard maps every dimension to mean 0 and variance 1, without
	// clamping, as SynthER does.
	NormaliserStandard = "standard"

	// PreconditioningScalar assumes the same spread sigma_data in every dimension
	// and no correlation (Karras et al. 2022), as PGR and SynthER do.
	PreconditioningScalar = "scalar"
	// PreconditioningCovariance works on the principal axes of the data, each with
	// its own spread: the network learns the difference from a Gaussian fitted to the
	// data (see coordinates). With few steps, this gives most of the accuracy.
	PreconditioningCovariance = "covariance"

	// CorrectorConditional evaluates the Heun corrector with the condition and
	// without guidance, as the released code does: the effective guidance is
	// about (ω+1)/2.
	CorrectorConditional = "conditional"
	// CorrectorFull guides the corrector like the predictor.
	CorrectorFull = "full"
	// CorrectorAuto is CorrectorFull below FullBelow noise levels and CorrectorConditional from
	// there on. The steps of a few levels are so large that a corrector without guidance takes
	// most of it back: at 8 levels ω = 1, 2 and 3 give the same samples.
	CorrectorAuto = "auto"

	// TerminalsThreshold rounds a modelled terminal flag: 1 above one half, else 0.
	TerminalsThreshold = "threshold"
	// TerminalsRaw stores the network's output d, as SynthER's online code does on Gym's
	// tasks (conglu1997/SynthER: config/online/sac_synther_openai.gin sets no threshold).
	// The bootstrap is then scaled by 1 − d, which may be above 1 or below 0.
	TerminalsRaw = "raw"

	// VectorTransition models whole transitions [s, a, r, s'(, d)], as the papers do.
	VectorTransition = "transition"
	// VectorPair models [s, a], for heads that predict the rest (HeadTransition). The
	// whole network then models where transitions begin.
	VectorPair = "pair"

	// AnglesRaw models an angle as a plain number, as the papers do.
	AnglesRaw = "raw"
	// AnglesPhase models the sine and cosine of an angle without limits beside the angle
	// itself, and takes a sample's phase from them. If the angle has made tens of turns,
	// one turn is a small part of its range, and everything that depends on the phase
	// would be lost. Directions, the cosine and the sine of an angle that an observation has,
	// are scaled to norm 1, in s and in s'. Whole transitions (VectorTransition) have raw
	// angles in any case.
	AnglesPhase = "phase"

	// ActionsData leaves a as the generator makes it, which is as the data have it: chosen by all policies
	// that the run has had. ActionsPolicy draws it from the present policy at s.
	ActionsData   = "data"
	ActionsPolicy = "policy"

	// OutcomesModel leaves s', r and d as the generator or its heads make them. OutcomesSimulator takes
	// them from the task, set to s and stepped by a: rows without any model error.
	OutcomesModel     = "model"
	OutcomesSimulator = "simulator"

	// InitScratch starts every refit from fresh weights, as the papers do.
	InitScratch = "scratch"
	// InitPrevious starts a refit from the averaged weights of the previous one; the
	// optimiser and the schedule start afresh.
	InitPrevious = "previous"

	// ConditionPadded scales relevance between the extremes of an array padded
	// with zeros, as the released code does with a buffer that is not full. If the
	// relevance is positive, the smallest condition stands for F = 0.
	ConditionPadded = "padded"
	// ConditionFilled scales relevance between the true extremes, with the released slack of 1e-5
	// on the largest one. Runs and presets of builds before 28 November 2026 have it.
	ConditionFilled = "filled"
	// ConditionScaled is ConditionFilled with a slack in proportion to the range, see span: the
	// largest score has a condition of nearly 1 however small F is.
	ConditionScaled = "scaled"
)

// Config describes a generator. It is fixed for a run; FitKnobs and GenKnobs hold
// the numbers that may change during a run.
type Config struct {
	Architecture string `toml:"architecture"` // "synther" or "pgr"
	Width        int    `toml:"width"`        // of the residual trunk
	Blocks       int    `toml:"blocks"`       // residual blocks h + Linear(act(h))
	Activation   string `toml:"activation"`   // of the trunk: "relu", "silu", "mish", "elu", "tanh"
	Embedding    int    `toml:"embedding"`    // width of the time and condition embeddings
	Fourier      int    `toml:"-"`            // fixed random frequencies of the time features
	Conditional  bool   `toml:"conditional"`  // whether the network has a condition input

	Vector         string `toml:"vector"`          // "transition" (also if empty) or "pair"
	Angles         string `toml:"angles"`          // "raw" (also if empty) or "phase" (vector "pair" only)
	Normaliser     string `toml:"normaliser"`      // "minmax" or "standard"
	SkipReward     bool   `toml:"skip_reward"`     // do not normalise the reward ("standard" only)
	ModelTerminals bool   `toml:"model_terminals"` // append the terminal flag to the vector
	Terminals      string `toml:"terminals"`       // "threshold" (also if empty) or "raw", for modelled terminal flags
	ConditionRange string `toml:"condition_range"` // "padded", "filled" or "scaled"
	Corrector      string `toml:"corrector"`       // "conditional", "full" or "auto"
	Init           string `toml:"init"`            // "scratch" (also if empty) or "previous"
	Actions        string `toml:"actions"`         // "data" (also if empty) or "policy", see package relabel
	Outcomes       string `toml:"outcomes"`        // "model" (also if empty) or "simulator", see package relabel

	// Noise is added to s and s' of a part of the rows that each step of a fit learns from, as to those
	// of the curiosity model (Wang et al. 2025, appendix).
	NoiseShare float64 `toml:"noise_share"` // of the rows; 0: none
	NoiseStd   float64 `toml:"noise_std"`   // in multiples of the root of the dimensions' mean variance

	Batch       int     `toml:"batch"` // rows of a gradient step
	Beta1       float64 `toml:"-"`     // of AdamW
	Beta2       float64 `toml:"-"`
	Epsilon     float64 `toml:"-"`
	WeightDecay float64 `toml:"-"`
	ClipNorm    float64 `toml:"-"`         // of the global gradient norm; 0: none
	EMADecay    float64 `toml:"-"`         // limit of the decay; emaDecay adds the warm-up
	EMAEvery    int     `toml:"ema_every"` // gradient steps between averages
	EMAAfter    int     `toml:"-"`         // up to this step the average is a plain copy

	Preconditioning string `toml:"preconditioning"` // "scalar" or "covariance"
	CovarianceRows  int    `toml:"covariance_rows"` // transitions of which the covariance is taken, spread over all ("covariance" only); 0: 16,384

	PMean     float64 `toml:"p_mean"`    // mean of ln σ while fitting
	PStd      float64 `toml:"p_std"`     // standard deviation of ln σ while fitting
	SigmaData float64 `toml:"-"`         // assumed standard deviation of the data ("scalar" only)
	SigmaMin  float64 `toml:"sigma_min"` // lowest noise level of the sampler
	SigmaMax  float64 `toml:"sigma_max"` // highest noise level of the sampler
	Rho       float64 `toml:"rho"`       // curvature of the noise levels
	STmin     float64 `toml:"-"`         // churn only levels from here …
	STmax     float64 `toml:"-"`         // … to here
	SNoise    float64 `toml:"-"`         // scale of the noise that churn adds

	Chunk int `toml:"chunk"` // transitions denoised together; each takes two rows of a network call if guidance needs both estimates
}

// Relabels says whether rows get other actions or outcomes than the generator's.
func (c Config) Relabels() bool {
	return c.Actions == ActionsPolicy || c.Outcomes == OutcomesSimulator
}

// Constants are the settings that no configuration changes.
func Constants() Config {
	return Config{
		Fourier: 8,    // SynthER: synther/diffusion/denoiser_network.py, 17 features of ln σ / 4
		Beta1:   0.9,  // SynthER: synther/diffusion/elucidated_diffusion.py, adam_betas
		Beta2:   0.99, // the same
		Epsilon: 1e-8, // PyTorch's AdamW

		WeightDecay: 0,     // SynthER: weight_decay
		ClipNorm:    1,     // SynthER: clip_grad_norm_ in the trainer
		EMADecay:    0.995, // SynthER: ema_decay
		EMAAfter:    100,   // lucidrains/ema-pytorch: update_after_step

		SigmaData: 1,     // SynthER: sigma_data
		STmin:     0.05,  // SynthER: S_tmin
		STmax:     50,    // SynthER: S_tmax
		SNoise:    1.003, // SynthER: S_noise
	}
}

// Default is the generator of the released PGR configuration (renwang435/pgr:
// config/resmlp_denoiser.gin and config/online/sac_cond_synther_dmc.gin), except
// for the size of a chunk, which does not change the distribution.
func Default() Config {
	c := Constants()
	c.Architecture, c.Width, c.Blocks, c.Activation, c.Embedding, c.Conditional = ArchitecturePGR, 2048, 6, "mish", 256, true
	c.Normaliser, c.ConditionRange, c.Corrector = NormaliserMinMax, ConditionPadded, CorrectorConditional
	c.Preconditioning, c.Terminals = PreconditioningScalar, TerminalsThreshold
	c.Batch, c.EMAEvery, c.Chunk = 256, 10, 4096
	c.PMean, c.PStd, c.SigmaMin, c.SigmaMax, c.Rho = -1.2, 1.2, 0.002, 80, 7
	return c
}

// Validate says in one line what is wrong with c, or returns nil.
func (c Config) Validate() error {
	for _, choice := range []struct {
		name, value string
		known       []string
	}{
		{"architecture", c.Architecture, []string{ArchitectureSynthER, ArchitecturePGR}},
		{"activation", c.Activation, []string{"relu", "silu", "mish", "elu", "tanh"}},
		{"normaliser", c.Normaliser, []string{NormaliserMinMax, NormaliserStandard}},
		{"condition_range", c.ConditionRange, []string{ConditionPadded, ConditionFilled, ConditionScaled}},
		{"preconditioning", c.Preconditioning, []string{PreconditioningScalar, PreconditioningCovariance}},
		{"corrector", c.Corrector, []string{CorrectorConditional, CorrectorFull, CorrectorAuto}},
		{"terminals", c.Terminals, []string{TerminalsThreshold, TerminalsRaw, ""}},
		{"vector", c.Vector, []string{VectorTransition, VectorPair, ""}},
		{"angles", c.Angles, []string{AnglesRaw, AnglesPhase, ""}},
		{"init", c.Init, []string{InitScratch, InitPrevious, ""}},
		{"actions", c.Actions, []string{ActionsData, ActionsPolicy, ""}},
		{"outcomes", c.Outcomes, []string{OutcomesModel, OutcomesSimulator, ""}},
	} {
		if !slices.Contains(choice.known, choice.value) {
			return fmt.Errorf("generator: %s is %q, want one of %q", choice.name, choice.value, choice.known)
		}
	}
	for _, least := range []struct {
		name       string
		value, min int
	}{
		{"width", c.Width, 2}, {"blocks", c.Blocks, 1}, {"embedding", c.Embedding, 1},
		{"batch", c.Batch, 1}, {"ema_every", c.EMAEvery, 1}, {"chunk", c.Chunk, 1}, {"covariance_rows", c.CovarianceRows, 0},
	} {
		if least.value < least.min {
			return fmt.Errorf("generator: %s is %d, want at least %d", least.name, least.value, least.min)
		}
	}
	if err := c.validateNoise(); err != nil {
		return err
	}
	return c.validateNumbers()
}

func (c Config) validateNumbers() error {
	switch {
	case c.Architecture == ArchitecturePGR && c.Width%2 != 0:
		return fmt.Errorf("generator: width is %d, want an even number: the trunk of %q has two halves", c.Width, c.Architecture)
	case c.SkipReward && c.Normaliser == NormaliserMinMax:
		// The released code accepts the flag with this normaliser and ignores it.
		return fmt.Errorf("generator: skip_reward goes with normaliser %q only: %q clamps to [-1,1]", NormaliserStandard, NormaliserMinMax)
	case c.SkipReward && c.Vector == VectorPair:
		return fmt.Errorf("generator: skip_reward is about the reward in the vector: vector %q has none", c.Vector)
	case !(c.SigmaMin > 0 && c.SigmaMax > c.SigmaMin):
		return fmt.Errorf("generator: sigma_min is %g and sigma_max %g, want 0 < sigma_min < sigma_max", c.SigmaMin, c.SigmaMax)
	case !(c.SigmaData > 0 && c.Rho > 0 && c.PStd > 0):
		return fmt.Errorf("generator: sigma_data %g, rho %g and p_std %g must be positive", c.SigmaData, c.Rho, c.PStd)
	}
	return nil
}

// FitKnobs are the numbers of one fit, read when it starts.
type FitKnobs struct {
	Steps   int     // gradient steps, and the horizon of the cosine schedule
	LR      float64 // learning rate of the first step
	PUncond float64 // probability that a row of a batch loses its condition
}

// maxSteps limits the gradient steps and maxLevels the noise levels. They bound what a
// damaged file can ask for; the knobs have narrower ranges.
const (
	maxSteps  = 1_000_000_000
	maxLevels = 100_000
)

func (k FitKnobs) validate() error {
	switch {
	case k.Steps < 1 || k.Steps > maxSteps:
		return fmt.Errorf("generator_steps is %d, want 1 to %d", k.Steps, maxSteps)
	case !(k.LR > 0):
		return fmt.Errorf("lr_generator is %g, want a positive number", k.LR)
	case !(k.PUncond >= 0 && k.PUncond <= 1):
		return fmt.Errorf("p_uncond is %g, want a number from 0 to 1", k.PUncond)
	}
	return nil
}

// GenKnobs are the numbers of one generation, read when it starts.
type GenKnobs struct {
	Samples     int     // transitions to make
	Steps       int     // noise levels N of the sampler
	Guidance    float64 // ω; 0 unconditional, 1 conditional, above 1 stronger than the data
	TopFraction float64 // share of the real transitions whose relevance serves as prompts, in (0,1]
	SChurn      float64 // noise added while sampling; γ = min(SChurn/N, √2−1)
	Horizon     int     // steps of a rollout, for kinds that roll out; 0 is 1
}

func (k GenKnobs) validate() error {
	switch {
	case k.Samples < 1:
		return fmt.Errorf("samples is %d, want at least 1", k.Samples)
	case k.Steps < 2 || k.Steps > maxLevels:
		return fmt.Errorf("sampler_steps is %d, want 2 to %d", k.Steps, maxLevels)
	case !(k.TopFraction > 0 && k.TopFraction <= 1):
		return fmt.Errorf("top_fraction is %g, want a number above 0 and at most 1", k.TopFraction)
	case !(k.SChurn >= 0):
		return fmt.Errorf("s_churn is %g, want a number of at least 0", k.SChurn)
	case k.Horizon < 0 || k.Horizon > maxLevels:
		return fmt.Errorf("horizon is %d, want 1 to %d", k.Horizon, maxLevels)
	case !(k.Guidance >= 0):
		return fmt.Errorf("guidance is %g, want a number of at least 0", k.Guidance)
	}
	return nil
}

// Check validates the knobs of a generation of at most limit samples. Knobs that are
// all 0, before the first generation, are valid.
func (k GenKnobs) Check(limit int) error {
	if k == (GenKnobs{}) {
		return nil
	}
	if k.Samples > limit {
		return fmt.Errorf("samples is %d, want at most %d", k.Samples, limit)
	}
	return k.validate()
}
