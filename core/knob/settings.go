package knob

import (
	"cmp"
	"fmt"
	"math"

	"pgrlab/core/generative"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// Settings holds the values of all knobs.
type Settings struct {
	Relevance   string  `toml:"relevance"`
	Guidance    float64 `toml:"guidance"`
	TopFraction float64 `toml:"top_fraction"`
	Ratio       float64 `toml:"ratio"`
	Hold        string  `toml:"hold"`
	UTD         int     `toml:"utd"`
	Batch       int     `toml:"batch"`
	LRActor     float64 `toml:"lr_actor"`
	LRCritic    float64 `toml:"lr_critic"`
	Tau         float64 `toml:"tau"`
	Bonus       float64 `toml:"bonus"`
	Entropy     float64 `toml:"entropy"`
	Prior       float64 `toml:"prior"`
	TV          string  `toml:"tv"` // "": TVOff

	RefitEvery     int     `toml:"refit_every"`
	Samples        int     `toml:"samples"`
	Horizon        int     `toml:"horizon"` // 0: 1
	SamplerSteps   int     `toml:"sampler_steps"`
	SChurn         float64 `toml:"s_churn"`
	GeneratorSteps int     `toml:"generator_steps"`
	LRGenerator    float64 `toml:"lr_generator"`
	PUncond        float64 `toml:"p_uncond"`
}

// The choices of hold.
const (
	// HoldBatch keeps the size of the batch: a share r of it is synthetic.
	HoldBatch = "batch"
	// HoldReal keeps the number of real rows of a batch as at r = 0.5 and lets the batch
	// grow with r, as the paper's scaling does: 0.5/256, 0.75/512, 0.875/1024.
	HoldReal = "real"
)

// TVOff is the choice of tv that shows nothing.
const TVOff = "off"

// TVs returns the choices of tv.
func TVs() []string { return []string{TVOff, "noise", "noise-action", "images-action"} }

// Televised is the value of tv, or TVOff if it is not set.
func (s *Settings) Televised() string { return cmp.Or(s.TV, TVOff) }

// Rollout is the value of horizon, or 1 if it is not set.
func (s *Settings) Rollout() int { return max(1, s.Horizon) }

// Get returns the value of the knob of that name; false for an unknown name.
func (s *Settings) Get(name string) (Value, bool) {
	for _, k := range table {
		if k.Name == name {
			return k.read(s), true
		}
	}
	return Value{}, false
}

// Set parses a value like --set does. The error names the nearest knob or the range.
func (s *Settings) Set(name, text string) error {
	k, err := Find(name)
	if err != nil {
		return err
	}
	v, err := k.Parse(text)
	if err != nil {
		return err
	}
	k.write(s, v)
	return nil
}

// Values returns all values by name.
func (s *Settings) Values() map[string]Value {
	m := make(map[string]Value, len(table))
	for _, k := range table {
		m[k.Name] = k.read(s)
	}
	return m
}

// Validate returns an error for the first value that is out of range, and for a
// combination that CheckMix refuses.
func (s *Settings) Validate() error {
	for _, k := range table {
		if err := k.Check(k.read(s)); err != nil {
			return err
		}
	}
	return s.CheckMix()
}

// MaxRows is the largest size of a batch with hold=real.
const MaxRows = 16384

// Mix splits a batch into real and synthetic rows by ratio, batch and hold; available is
// the number of synthetic transitions.
func (s *Settings) Mix(available int) replay.Mix {
	if s.Hold == HoldReal {
		return replay.HoldReal(s.Batch, s.Ratio, available)
	}
	return replay.HoldBatch(s.Batch, s.Ratio, available)
}

// CheckMix checks the combination of values that are each in range: it returns an error if
// hold=real would make a batch of more than MaxRows.
func (s *Settings) CheckMix() error {
	if s.Hold != HoldReal || s.Ratio < 1 && s.Mix(math.MaxInt).Size() <= MaxRows {
		return nil
	}
	return fmt.Errorf("ratio %g with hold=real: the batch would need more than %s rows", s.Ratio, FormatCount(MaxRows))
}

// Unguided says in one line why guidance does not act as s asks for, or "".
func (s *Settings) Unguided() string {
	if s.SamplerSteps >= generative.LeastGuided || s.Guidance == 0 || s.Guidance == 1 {
		return ""
	}
	return fmt.Sprintf("ω does not act as asked below %d sampler_steps", generative.LeastGuided)
}

// Generation returns the knobs that the generator reads when a generation begins.
func (s *Settings) Generation() generative.GenKnobs {
	return generative.GenKnobs{Samples: s.Samples, Steps: s.SamplerSteps, Guidance: s.Guidance, TopFraction: s.TopFraction, SChurn: s.SChurn, Horizon: s.Rollout()}
}

// number, count and pick bind a knob to its field of Settings.
func (k Knob) number(field func(*Settings) *float64) Knob {
	return bind(k, KindFloat, field, Number, func(v Value) float64 { return v.Number })
}

func (k Knob) count(field func(*Settings) *int) Knob {
	return bind(k, KindInt, field, func(n int) Value { return Number(float64(n)) }, func(v Value) int { return int(v.Number) })
}

func (k Knob) pick(field func(*Settings) *string) Knob {
	return bind(k, KindChoice, field, Choice, func(v Value) string { return v.Text })
}

func bind[T any](k Knob, kind Kind, field func(*Settings) *T, value func(T) Value, of func(Value) T) Knob {
	k.Kind = kind
	k.read, k.write = func(s *Settings) Value { return value(*field(s)) }, func(s *Settings, v Value) { *field(s) = of(v) }
	return k
}

// table lists all knobs in the order in which they are shown.
var table = []Knob{
	Knob{Name: "relevance", Symbol: "F", Class: ClassRefit, Previewable: true, Use: UsePrompts,
		Choices: relevance.Names(),
		Doc:     "how interesting a transition is: a name, or a formula; none trains the generator without a condition"}.
		pick(func(s *Settings) *string { return &s.Relevance }),
	Knob{Name: "guidance", Symbol: "ω", Typed: "omega", Class: ClassGeneration, Previewable: true, Use: UsePrompts | UseDiffusion, Min: 0, Max: 10, Step: 0.25,
		Doc: "pull towards high relevance: 0 none, 1 as in the data, above 1 stronger; unreliable below 8 sampler_steps"}.
		number(func(s *Settings) *float64 { return &s.Guidance }),
	Knob{Name: "ratio", Symbol: "r", Class: ClassBatch, Use: UseGenerator | UseAgent, Min: 0, Max: 1, Step: 0.125,
		Doc: "share of synthetic transitions in a batch"}.
		number(func(s *Settings) *float64 { return &s.Ratio }),
	Knob{Name: "hold", Class: ClassBatch, Use: UseGenerator | UseAgent, Choices: []string{HoldBatch, HoldReal},
		Doc: "what r leaves unchanged: the size of the batch, or its real rows (the batch grows)"}.
		pick(func(s *Settings) *string { return &s.Hold }),
	Knob{Name: "top_fraction", Symbol: "k", Class: ClassGeneration, Previewable: true, Use: UsePrompts, Min: 0, Above: true, Max: 1, Step: 0.05,
		Doc: "share of the real transitions that serve as prompts: the most relevant ones"}.
		number(func(s *Settings) *float64 { return &s.TopFraction }),
	Knob{Name: "utd", Symbol: "UTD", Unit: "updates/step", Class: ClassBatch, Use: UseUpdates, Min: 1, Max: 40, Step: 1,
		Doc: "critic updates per env step"}.
		count(func(s *Settings) *int { return &s.UTD }),
	Knob{Name: "batch", Symbol: "B", Unit: "rows", Class: ClassBatch, Use: UseBatches, Min: 2, Max: 4096, Scale: ScaleLog, Step: 1,
		Doc: "transitions in an update; with hold=real, those at r = 0.5"}.
		count(func(s *Settings) *int { return &s.Batch }),
	Knob{Name: "prior", Class: ClassBatch, Use: UsePrior, Min: 0, Max: 1, Step: 0.125,
		Doc: "share of a batch's real transitions that comes from pinned data"}.
		number(func(s *Settings) *float64 { return &s.Prior }),
	Knob{Name: "lr_actor", Symbol: "λπ", Typed: "lambda_pi", Class: ClassBatch, Use: UseActor, Min: 0, Max: 1, Scale: ScaleLog,
		Doc: "learning rate of the policy (SAC: and of α; PPO: and of the value; DreamerV3: of all networks)"}.
		number(func(s *Settings) *float64 { return &s.LRActor }),
	Knob{Name: "lr_critic", Symbol: "λQ", Typed: "lambda_Q", Class: ClassBatch, Use: UseCritics, Min: 0, Max: 1, Scale: ScaleLog,
		Doc: "learning rate of the critics"}.
		number(func(s *Settings) *float64 { return &s.LRCritic }),
	Knob{Name: "tau", Symbol: "τ", Class: ClassBatch, Use: UseTargets, Min: 0, Max: 1, Scale: ScaleLog,
		Doc: "how far the target critics move towards the critics at each update"}.
		number(func(s *Settings) *float64 { return &s.Tau }),
	Knob{Name: "refit_every", Unit: "steps", Class: ClassBatch, Use: UseGenerator | UseAgent, Min: 1, Max: 1e8, Scale: ScaleLog,
		Doc: "env steps between refits of the generator"}.
		count(func(s *Settings) *int { return &s.RefitEvery }),
	Knob{Name: "samples", Unit: "rows", Class: ClassGeneration, Use: UseGenerator, Min: 1, Max: 1e8, Scale: ScaleLog,
		Doc: "transitions in a generation: the size of D_syn"}.
		count(func(s *Settings) *int { return &s.Samples }),
	{Name: "horizon", Symbol: "h", Unit: "steps", Class: ClassGeneration, Use: UseRollouts, Min: 1, Max: 1000, Step: 1, Kind: KindInt, Previewable: true,
		Doc:  "steps of a rollout of the policy in the model of the dynamics, from a real state",
		read: func(s *Settings) Value { return Number(float64(s.Rollout())) }, write: func(s *Settings, v Value) { s.Horizon = int(v.Number) }},
	Knob{Name: "sampler_steps", Symbol: "N", Class: ClassGeneration, Previewable: true, Use: UseGenerator | UseDiffusion, Min: 2, Max: 1000, Step: 1, Scale: ScaleLog,
		Doc: "noise levels of the sampler; below 8, guidance does not act as asked"}.
		count(func(s *Settings) *int { return &s.SamplerSteps }),
	Knob{Name: "s_churn", Symbol: "S", Class: ClassGeneration, Previewable: true, Use: UseGenerator | UseDiffusion, Min: 0, Max: 1000, Step: 10,
		Doc: "noise that the sampler adds on the way; 0 is deterministic"}.
		number(func(s *Settings) *float64 { return &s.SChurn }),
	Knob{Name: "generator_steps", Symbol: "T", Unit: "steps", Class: ClassRefit, Use: UseGenerator | UseFit, Min: 1, Max: 1e8, Scale: ScaleLog,
		Doc: "gradient steps of a refit"}.
		count(func(s *Settings) *int { return &s.GeneratorSteps }),
	Knob{Name: "lr_generator", Symbol: "λG", Typed: "lambda_G", Class: ClassRefit, Use: UseGenerator | UseFit, Min: 0, Above: true, Max: 1, Scale: ScaleLog,
		Doc: "learning rate of the generator at the start of a refit"}.
		number(func(s *Settings) *float64 { return &s.LRGenerator }),
	Knob{Name: "p_uncond", Symbol: "p", Class: ClassRefit, Use: UsePrompts | UseDiffusion, Min: 0, Max: 1, Step: 0.05,
		Doc: "probability that a row of a refit loses its condition"}.
		number(func(s *Settings) *float64 { return &s.PUncond }),
	Knob{Name: "bonus", Symbol: "λ", Typed: "lambda", Class: ClassBatch, Use: UseBonus, Min: 0, Max: 100, Step: 0.05,
		Doc: "strength of the bonus that is added to the reward"}.
		number(func(s *Settings) *float64 { return &s.Bonus }),
	Knob{Name: "entropy", Symbol: "cH", Class: ClassBatch, Use: UseEntropy, Min: 0, Max: 10, Scale: ScaleLog,
		Doc: "weight of the policy's entropy in the loss of PPO or DreamerV3"}.
		number(func(s *Settings) *float64 { return &s.Entropy }),
	{Name: "tv", Class: ClassBatch, Use: UseTV, Choices: TVs(), Kind: KindChoice,
		Doc:  "what covers a quarter of the agent's view in a maze, from the next env step on",
		read: func(s *Settings) Value { return Choice(s.Televised()) }, write: func(s *Settings, v Value) { s.TV = v.Text }},
}

// Get is the knob's value in s.
func (k Knob) Get(s *Settings) Value { return k.read(s) }

// Set puts a value into s without checking it.
func (k Knob) Set(s *Settings, v Value) { k.write(s, v) }
