package dreamer

import (
	"fmt"
	"math"

	"pgrlab/core/agent"
	"pgrlab/core/nn"
	"pgrlab/core/replay"
)

// Settings are the learner's own: the table agent.dreamer.
type Settings struct {
	Deter   int `toml:"deter"`   // numbers of the deterministic part of a latent
	Stoch   int `toml:"-"`       // groups of its stochastic part
	Classes int `toml:"classes"` // of a group
	Blocks  int `toml:"-"`       // of the recurrent layers; they divide Deter
	Hidden  int `toml:"hidden"`  // width within the recurrent model, of its priors and posteriors
	Units   int `toml:"units"`   // width of encoder, decoder and heads
	Depth   int `toml:"depth"`   // channels of convolutions, in multiples of 2 to 4, if frames are seen
	Bins    int `toml:"-"`       // of rewards and values; an odd number

	Sequences  int `toml:"sequences"`   // of a batch
	Length     int `toml:"length"`      // env steps of a sequence
	TrainRatio int `toml:"train_ratio"` // env steps that updates learn from, for each env step that is made
	Imagine    int `toml:"imagine"`     // env steps that are imagined from each latent of a batch
	Warmup     int `toml:"warmup"`      // updates in which the rate rises to its full value

	// Noise is added to the observations of a part of the env steps of each batch (Wang et al. 2025, appendix on
	// noised dynamics data).
	NoiseShare float64 `toml:"noise_share"` // of the env steps; 0: none
	NoiseStd   float64 `toml:"noise_std"`   // in multiples of the root of the dimensions' mean variance

	Begin int `toml:"-"` // sequences that there are before the first update; 0: as many as a batch has env steps
}

// DefaultSettings are those of danijar/dreamerv3 (configs.yaml: size1m, dmc_proprio).
var DefaultSettings = Settings{
	Deter: 512, Stoch: 32, Classes: 4, Blocks: 8, Hidden: 64, Units: 64, Depth: 4, Bins: 255,
	Sequences: 16, Length: 64, TrainRatio: 1024, Imagine: 15, Warmup: 1000, NoiseStd: 0.2,
}

// DefaultRates are those of danijar/dreamerv3: one rate for all networks, and by Tau the slow critic follows
// the critic.
var DefaultRates = agent.Rates{LRActor: 4e-5, Tau: 0.02, Entropy: 3e-4}

// Constants of danijar/dreamerv3 (configs.yaml).
const (
	unimix    = 0.01 // share of uniform probability in a latent's groups
	freeNats  = 1    // KL below which there is no loss
	repScale  = 0.1  // weight of the loss that moves the posterior
	repValue  = 0.3  // weight of the critic's loss on replayed env steps
	lambda    = 0.95
	horizon   = 333  // env steps; 1−1/horizon is the discount
	moveRange = 0.01 // rate at which the range of returns follows
	lowest    = 0.05 // the percentiles of that range
	highest   = 0.95
	epsilon   = 1e-4 // of the RMS norms

	// mostSeen is how many of the newest env steps updates learn from (upstream: 5·10⁶).
	mostSeen = 1_000_000
)

// Validate says in one line what is wrong, or returns nil.
func (s Settings) Validate() error {
	for _, least := range []struct {
		name             string
		value, min, most int
	}{
		{"deter", s.Deter, 1, 1 << 14}, {"classes", s.Classes, 2, 1 << 8}, {"hidden", s.Hidden, 1, 1 << 12}, {"units", s.Units, 1, 1 << 12}, {"depth", s.Depth, 1, 1 << 8},
		{"sequences", s.Sequences, 1, 1 << 10}, {"length", s.Length, 2, 1 << 10}, {"train_ratio", s.TrainRatio, 1, 1 << 16},
		{"imagine", s.Imagine, 1, 1 << 8}, {"warmup", s.Warmup, 0, 1 << 30},
	} {
		if least.value < least.min || least.value > least.most {
			return fmt.Errorf("agent.dreamer.%s is %d, want %d to %d", least.name, least.value, least.min, least.most)
		}
	}
	if !(s.NoiseShare >= 0 && s.NoiseShare <= 1) || !(s.NoiseStd >= 0) || math.IsInf(s.NoiseStd, 0) {
		return fmt.Errorf("agent.dreamer: noise_share is %g and noise_std %g, want a share from 0 to 1 and a number of at least 0", s.NoiseShare, s.NoiseStd)
	}
	if s.NoiseShare > 0 && s.NoiseStd == 0 {
		return fmt.Errorf("agent.dreamer: noise_share is %g, but noise_std is 0, which is no noise: want a size, as 0.2, or noise_share 0", s.NoiseShare)
	}
	if s.Deter%s.Blocks != 0 {
		return fmt.Errorf("agent.dreamer.deter is %d, want a multiple of %d", s.Deter, s.Blocks)
	}
	if rows := s.rows(); s.TrainRatio%rows != 0 && rows%s.TrainRatio != 0 {
		return fmt.Errorf("agent.dreamer.train_ratio is %d: want a multiple or a part of the %d env steps of a batch", s.TrainRatio, rows)
	}
	return nil
}

// rows is how many env steps a batch has.
func (s Settings) rows() int { return s.Sequences * s.Length }

// begin is how many sequences there are before the first update.
func (s Settings) begin() int {
	if s.Begin > 0 {
		return s.Begin
	}
	return s.rows()
}

// pace says when updates are made.
func (s Settings) pace() agent.Pace {
	rows := s.rows()
	return agent.Pace{From: s.begin() + s.Length - 1, Updates: max(1, s.TrainRatio/rows), Every: max(1, rows/s.TrainRatio)}
}

// trial returns settings whose batches have as many rows, in shorter sequences, of which there are enough sooner.
func (s Settings) trial() Settings {
	rows := s.rows()
	for length := min(s.Length, shortSequence); length > 1; length-- {
		if rows%length == 0 {
			s.Length, s.Sequences = length, rows/length
			break
		}
	}
	s.Begin = fewSequences
	return s
}

// The sizes of trial.
const (
	shortSequence = 8
	fewSequences  = 26
)

// Config describes an agent.
type Config struct {
	Settings
	Shape  replay.Shape // of the environment's transitions
	Side   int          // of the frames that are seen instead of observations; 0: no frames are seen
	Copies int          // of the environment
}

// Validate says in one line what is wrong with c, or returns nil.
func (c Config) Validate() error {
	if err := c.Settings.Validate(); err != nil {
		return err
	}
	if c.Copies < 1 {
		return fmt.Errorf("agent: %d copies of the environment, want at least 1", c.Copies)
	}
	if err := c.validateFrames(); err != nil {
		return err
	}
	return c.Shape.Validate()
}

// validateFrames says in one line what is wrong with the frames, or returns nil.
func (c Config) validateFrames() error {
	if c.Side > 0 && (c.Side%16 != 0 || c.Side < 48 || c.Side > 256) {
		return fmt.Errorf("pixels.side is %d, want a multiple of 16 from 48 to 256: DreamerV3 halves frames four times", c.Side)
	}
	if wide := c.channels(len(multiples) - 1); c.Side > 0 && wide%c.Blocks != 0 {
		return fmt.Errorf("agent.dreamer.depth is %d, want an even number", c.Depth)
	}
	return nil
}

// groups is the width of a latent's stochastic part, and feature that of a whole latent.
func (c Config) groups() int  { return c.Stoch * c.Classes }
func (c Config) feature() int { return c.Deter + c.groups() }

// partRows is how many rows of a batch are worked on at a time, and sightRows how many observations.
func (c Config) partRows() int { return c.part(mostRows) }

func (c Config) sightRows() int {
	if c.Side > 0 {
		return c.part(mostFrames)
	}
	return c.partRows()
}

// part is the largest part of a batch that is no more than so many rows.
func (c Config) part(most int) int {
	rows := c.rows()
	for parts := (rows + most - 1) / most; ; parts++ {
		if rows%parts == 0 {
			return rows / parts
		}
	}
}

// These keep what a program works on within a second-level cache, and a unit of work short.
const (
	mostRows   = 256
	mostFrames = 16
)

// weights is the number of parameters that are learned.
func (c Config) weights() float64 {
	d, z, h, u, b := c.Deter, c.groups(), c.Hidden, c.Units, c.Blocks
	n := nn.Parameters(c.Shape.Obs, u, u, u) + nn.Parameters(d+z, u, u, u, c.Shape.Obs) + c.ofVision() // encoder, decoder
	n += nn.Parameters(d, h) + nn.Parameters(z, h) + nn.Parameters(c.Shape.Act, h)                     // what enters the recurrent layers
	n += float64(b) * (nn.Parameters(d/b+3*h, d/b) + nn.Parameters(d/b, 3*d/b))                        // these
	n += nn.Parameters(d+c.tokens(), h, z) + nn.Parameters(d, h, h, z)                                 // posterior, prior
	n += nn.Parameters(d+z, u, c.Bins) + nn.Parameters(d+z, u, 1)                                      // reward, continuation
	n += nn.Parameters(d+z, u, u, u, 2*c.Shape.Act) + nn.Parameters(d+z, u, u, u, c.Bins)              // policy, value
	return n + float64(6*u+3*h+d+h+2*h+2*u+6*u)                                                        // scales of the norms
}

// Memory is roughly how many bytes an agent takes whose run has that many env steps: never much more than it
// will take. It does not overflow.
func (c Config) Memory(looked int) float64 {
	if c.Settings.Validate() != nil {
		return 0 // describe reports the error
	}
	rows, part, f := float64(c.rows()), float64(c.partRows()), float64(c.feature())
	numbers := 8 * c.weights()                                                // with moments, gradients, programs
	numbers += rows * (6*f + float64(c.Imagine+1)*(f+float64(c.Shape.Act)+6)) // a batch, and what is imagined
	numbers += 2 * rows * float64(c.tokens())
	if c.Side > 0 {
		numbers += float64(c.sightRows()) * 16 * float64(c.Side*c.Side*(agent.Colours+4*c.Depth))
	}
	numbers += part * (24*f + 16*float64(c.Hidden+c.Units) + 8*float64(c.Bins)) // programs
	numbers += float64(agent.Padded(max(1, looked))) * (12*f + 8*float64(c.Hidden+c.Units))
	return 4 * numbers
}

// kept is how many bytes the latents of that many env steps take.
func (c Config) kept(steps int) float64 {
	return math.Min(float64(steps), mostSeen) * float64(4*c.Deter+c.Stoch)
}
