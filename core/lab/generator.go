package lab

// Generator is the part of the generator that is fixed for a run.
type Generator struct {
	Kind  string `toml:"kind"`  // "diffusion", or "none" for methods on real data only
	Slice int    `toml:"slice"` // gradient steps of a slice of a fit: how long a command may have to wait; 0: one

	Architecture string `toml:"architecture"` // "synther" or "pgr"
	Width        int    `toml:"width"`        // of the residual trunk
	Blocks       int    `toml:"blocks"`       // residual blocks h + Linear(act(h))
	Activation   string `toml:"activation"`   // of the trunk: "relu", "silu", "mish", "elu", "tanh"
	Embedding    int    `toml:"embedding"`    // width of the time and condition embeddings
	Fourier      int    `toml:"fourier"`      // fixed random frequencies of the time features
	Conditional  bool   `toml:"conditional"`  // whether the network has a condition input

	Normaliser     string `toml:"normaliser"`      // "minmax" or "standard"
	SkipReward     bool   `toml:"skip_reward"`     // leave the reward as it is ("standard" only)
	ModelTerminals bool   `toml:"model_terminals"` // append the terminal flag to the vector
	ConditionRange string `toml:"condition_range"` // "padded" or "filled"
	Corrector      string `toml:"corrector"`       // "conditional" or "full"

	Batch       int     `toml:"batch"` // rows of a gradient step
	Beta1       float64 `toml:"beta1"` // of AdamW
	Beta2       float64 `toml:"beta2"`
	Epsilon     float64 `toml:"epsilon"`
	WeightDecay float64 `toml:"weight_decay"`
	ClipNorm    float64 `toml:"clip_norm"` // of the global gradient norm; 0: none
	EMADecay    float64 `toml:"ema_decay"` // its limit
	EMAEvery    int     `toml:"ema_every"` // gradient steps between averages
	EMAAfter    int     `toml:"ema_after"` // averages are plain copies up to this step

	PMean     float64 `toml:"p_mean"`     // mean of ln σ while fitting
	PStd      float64 `toml:"p_std"`      // standard deviation of ln σ while fitting
	SigmaData float64 `toml:"sigma_data"` // assumed standard deviation of the data
	SigmaMin  float64 `toml:"sigma_min"`  // lowest noise level of the sampler
	SigmaMax  float64 `toml:"sigma_max"`  // highest noise level of the sampler
	Rho       float64 `toml:"rho"`        // curvature of the noise levels
	STmin     float64 `toml:"s_tmin"`     // churn only levels from here …
	STmax     float64 `toml:"s_tmax"`     // … to here
	SNoise    float64 `toml:"s_noise"`    // scale of the noise that churn adds

	Chunk int `toml:"chunk"` // transitions denoised together
}
