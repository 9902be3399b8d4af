package generative

import (
	"errors"
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/dynamics"
	"pgrlab/core/nn"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

var _ = register(Spec{
	Kind: "ensemble", Doc: "rollouts of the present policy in a probabilistic ensemble, from real states, those of high F if F is given: MBPO",
	Source:   "Janner et al. 2019; jannerm/mbpo",
	Settings: DefaultEnsemble(), Learns: true, RollsOut: true, Models: modelsOf,
	New: func(d Deps) (Generator, error) {
		return NewEnsemble(d)
	},
})

// The choices of EnsembleConfig's text fields.
const (
	// TargetDelta predicts s'−s, as MBPO does.
	TargetDelta = "delta"
	// TargetNext predicts s'. On the tasks of the DeepMind Control Suite the variances of a residual
	// are inflated (Barkley and Fridovich-Keil 2024).
	TargetNext = "next"

	// ScaleRaw leaves reward and state as they are, as MBPO does.
	ScaleRaw = "raw"
	// ScaleEach standardises each number that is predicted, so that all weigh alike (the same).
	ScaleEach = "each"
)

// EnsembleConfig holds the settings of an Ensemble, the table generator.ensemble.
type EnsembleConfig struct {
	Members     int    `toml:"members"`      // networks
	Elites      int    `toml:"elites"`       // networks that are rolled out: the best ones on rows held out
	Width       int    `toml:"width"`        // of a hidden layer
	Layers      int    `toml:"layers"`       // hidden layers
	Patience    int    `toml:"patience"`     // epochs in a row without improvement after which a fit goes on
	Target      string `toml:"target"`       // "delta" or "next"
	TargetScale string `toml:"target_scale"` // "raw" or "each"
}

// DefaultEnsemble is MBPO's (jannerm/mbpo: mbpo/models/constructor.py, bnn.py).
func DefaultEnsemble() EnsembleConfig {
	return EnsembleConfig{Members: 7, Elites: 5, Width: 200, Layers: 4, Patience: 5, Target: TargetDelta, TargetScale: ScaleRaw}
}

// maxMembers is the largest number of networks: a row names its own in 7 bits.
const maxMembers = 127

// Validate says in one line what is wrong, or returns nil.
func (c EnsembleConfig) Validate() error {
	switch {
	case c.Target != TargetDelta && c.Target != TargetNext:
		return fmt.Errorf("generator: ensemble.target is %q, want one of %q", c.Target, []string{TargetDelta, TargetNext})
	case c.TargetScale != ScaleRaw && c.TargetScale != ScaleEach:
		return fmt.Errorf("generator: ensemble.target_scale is %q, want one of %q", c.TargetScale, []string{ScaleRaw, ScaleEach})
	case c.Members > maxMembers:
		return fmt.Errorf("generator: ensemble.members is %d, want at most %d", c.Members, maxMembers)
	}
	if err := c.model(replay.Shape{Obs: 1, Act: 1}, 1).Validate(); err != nil {
		return fmt.Errorf("generator: %w", err)
	}
	return nil
}

// model is the configuration of the model of transitions of that shape.
func (c EnsembleConfig) model(shape replay.Shape, batch int) dynamics.Config {
	return dynamics.Config{
		In: shape.Obs + shape.Act, Out: 1 + shape.Obs, Members: c.Members, Elites: c.Elites, Width: c.Width, Layers: c.Layers,
		Batch: batch, Patience: c.Patience, Scaled: c.TargetScale == ScaleEach,
	}
}

// Memory covers the weights, which are trained, kept and served, with gradients and Adam's moments,
// the units of a batch with their gradients, and those of a call.
func (c EnsembleConfig) Memory(shared Config, width int) float64 {
	widths := []int{width}
	for range c.Layers {
		widths = append(widths, c.Width)
	}
	numbers := 6 * float64(c.Members) * nn.Parameters(append(widths, 2*width)...)
	units := float64(c.Layers)*float64(c.Width) + 3*float64(width)
	return 4 * (numbers + 3*float64(c.Members)*float64(shared.Batch)*units + float64(shared.Chunk)*units)
}

// Ensemble is the generator of MBPO (Janner et al. 2019, algorithm 2): the agent's present policy is
// rolled out for some steps in a learned model of the dynamics, each time from a real state. A fit
// trains the model, see package dynamics; its knobs are Steps, the most gradient steps, and LR, which
// does not fall.
//
// A generation begins with ⌈Samples/Horizon⌉ real states, drawn with replacement: of all real
// transitions or, if the fit had scores, of the most relevant share of them. Each row and step has an
// elite of its own. A transition that ends an episode by the task's rule is kept with d = 1 and its
// rollout ends; one that is not finite is dropped, and its rollout ends too.
type Ensemble struct {
	own    EnsembleConfig
	config Config
	shape  replay.Shape
	policy Policy
	ends   func(obs, act, next []float32) bool
	stream rng.Stream
	model  *dynamics.Ensemble
	device device.Device

	real       Rows      // where states are taken from: the rows of the last fit
	fitScores  []float32 // F of the rows of a fit under way; nil: without scores
	scores     []float32 // F of the rows of the last complete fit; NaN where a row was overwritten
	scoredAt   uint64    // transitions that there had ever been when that was last looked at
	ranked     []int32   // the other rows by falling F; nil: none has a score
	generation *rollouts // nil: none under way
	rolled     Rollouts  // of the last complete generation

	fills   plan.Cache[noiseKey, *filled]
	rolling *rolling // memory of a piece
	touched float32  // keeps reads
}

// NewEnsemble builds the model and compiles its gradient step. d.Policy may be nil if nothing is
// generated.
func NewEnsemble(d Deps) (*Ensemble, error) {
	own := d.Settings.(EnsembleConfig)
	if err := errors.Join(d.Config.Validate(), own.Validate()); err != nil {
		return nil, err
	}
	if err := d.Shape.Validate(); err != nil {
		return nil, fmt.Errorf("generator: %w", err)
	}
	stream := rng.New(d.Seed, "ensemble")
	model, err := dynamics.New("ensemble", own.model(d.Shape, d.Config.Batch), d.Device, stream.Sub("model"))
	if err != nil {
		return nil, fmt.Errorf("generator: %w", err)
	}
	e := &Ensemble{
		own: own, config: d.Config, shape: d.Shape, policy: d.Policy, ends: d.Ends, stream: stream, model: model, device: d.Device,
	}
	e.fills.Compile = e.newFilled
	return e, nil
}

// Close releases the compiled programs.
func (e *Ensemble) Close() error { return errors.Join(e.model.Close(), e.fills.Close()) }

// Cancel abandons the fit or the generation under way. The elites of the last complete fit stay.
func (e *Ensemble) Cancel() {
	e.model.Cancel()
	e.generation, e.fitScores = nil, nil
}

// Model implements roller.
func (e *Ensemble) Model() ModelFit {
	s := e.model.Serving()
	if s == nil {
		return ModelFit{}
	}
	return ModelFit{Errors: s.Errors, Constant: s.Constant, Elites: s.Elites}
}

// Rolled implements roller.
func (e *Ensemble) Rolled() Rollouts { return e.rolled }

// learned are rows as the model learns them: [s, a] and [r, s'−s] or [r, s'].
type learned struct {
	Rows
	shape replay.Shape
	delta bool
	seen  *[1]float32 // keeps reads
	batch int
	noise *noisy // nil: steps learn rows as they are
}

// Pairs implements dynamics.Data. Rows of a large D_real are in no cache: reading the ends of all of them
// first lets these reads overlap.
func (l learned) Pairs(rows []int32, in, out []float32) {
	obs, reward := l.shape.Obs, l.shape.Obs+l.shape.Act
	for _, i := range rows {
		row := l.Row(int(i))
		l.seen[0] += row[0] + row[len(row)-1]
	}
	for k, i := range rows {
		row, out := l.Row(int(i)), out[k*(1+obs):(k+1)*(1+obs)]
		copy(in[k*reward:], row[:reward])
		copy(out, row[reward:reward+1+obs])
		if l.delta {
			for j, s := range row[:obs] {
				out[1+j] -= s
			}
		}
	}
}

// Learn implements dynamics.Data.
func (l learned) Learn(at dynamics.Place, rows []int32, in, out []float32) {
	l.Pairs(rows, in, out)
	if l.noise == nil {
		return
	}
	obs := l.shape.Obs
	for k := range l.noise.rows(len(rows)) {
		l.noise.draw(occasion(at.Refit, at.Step), at.Member*l.batch+k)
		in, out := in[k*(obs+l.shape.Act):], out[k*(1+obs)+1:]
		for j := range obs {
			in[j] += l.noise.draws[j]
			out[j] += l.noise.draws[obs+j]
			if l.delta {
				out[j] -= l.noise.draws[j]
			}
		}
	}
}

func (e *Ensemble) learned(real Rows) learned {
	return learned{real, e.shape, e.own.Target == TargetDelta, new([1]float32), e.config.Batch, newNoisy(e.config, e.shape, real, e.stream)}
}

// StartFit begins a fit. With Config.Init "previous" it goes on from the weights and the moments of the
// last one, as MBPO does.
func (e *Ensemble) StartFit(real Rows, scores []float32, knobs FitKnobs, refit uint64) error {
	switch {
	case e.model.Fitting() || e.generation != nil:
		return fmt.Errorf("fit model: %w", errBusy)
	case scores != nil && len(scores) != real.Len():
		return fmt.Errorf("fit model: %d scores for %d transitions", len(scores), real.Len())
	}
	if scores != nil {
		if _, _, err := extremes(scores, ConditionFilled); err != nil {
			return fmt.Errorf("fit model: %w", err)
		}
	}
	if err := knobs.validate(); err != nil {
		return fmt.Errorf("fit model: %w", err)
	}
	f := dynamics.Fit{Steps: knobs.Steps, Rate: knobs.LR, Refit: refit, Fresh: e.config.Init != InitPrevious}
	if err := e.model.StartFit(e.learned(real), f); err != nil {
		return fmt.Errorf("fit model: %w", err)
	}
	e.real, e.fitScores, e.scoredAt = real, cloned(scores), total(real)
	return nil
}

// cloned copies scores; nil stays nil.
func cloned(scores []float32) []float32 {
	if scores == nil {
		return nil
	}
	return append([]float32{}, scores...)
}

// FitSteps makes up to n gradient steps; a fit ends early if more would not help.
func (e *Ensemble) FitSteps(n int) (loss float64, done bool, err error) {
	if loss, done, err = e.model.FitSteps(n); err != nil {
		return 0, false, fmt.Errorf("fit model: %w", err)
	}
	if done {
		e.serve(e.fitScores)
		e.fitScores = nil
	}
	return loss, done, nil
}
