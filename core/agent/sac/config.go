package sac

import (
	"fmt"
	"math"
)

// The choices of Config.Exploration: what drives exploration in addition to the policy's
// entropy, which always does.
const (
	// ExplorePolicy adds nothing: SAC and REDQ.
	ExplorePolicy = "policy"
	// ExploreNoisy perturbs every layer of the critics, again for each update, with
	// noise of learned strength (Fortunato et al. 2018), and so changes the objective
	// that the policy climbs.
	ExploreNoisy = "noisy"
	// ExploreBootstrap lets one critic of the ensemble act for a whole episode: the agent
	// draws Candidates samples of the policy and takes the one that this critic values
	// most (Osband et al. 2016, with a mask that is one everywhere).
	ExploreBootstrap = "bootstrap"
)

// The choices of Config.PolicyQ: the critics' value that the policy climbs.
const (
	PolicyMean = "mean" // over all critics: REDQ, SynthER, PGR
	PolicyMin  = "min"  // the least of them: SAC as its authors have it, and MBPO
)

// Config describes an agent. The settings that may change while it learns are in
// agent.Rates.
type Config struct {
	Obs, Act    int     // sizes of observations and actions
	Hidden      []int   // widths of the hidden layers of policy and critics
	Critics     int     // N
	Subset      int     // M, critics in a target
	Gamma       float64 // γ
	PolicyDelay int     // critic updates between policy updates within an env step
	PolicyQ     string  // "" stands for PolicyMean
	// InitialAlpha is α before its first update; the update itself always starts from
	// log α = 0. The released constructor leaves α at 0.2 until then (watchernyu/REDQ:
	// redq/algos/redq_sac.py); 1 is consistent with log α.
	InitialAlpha float64
	// TargetEntropy is H̄ of the temperature; 0 stands for −Act (Haarnoja et al. 2018b).
	TargetEntropy float64
	Exploration   string  // "" stands for ExplorePolicy
	NoisySigma    float64 // σ₀ of ExploreNoisy: deviations start at σ₀/√inputs
	Candidates    int     // policy samples that a critic of ExploreBootstrap chooses from
	Weighted      bool    // each row of a batch counts in the critics' loss by replay.Batch.Weight
}

// DefaultConfig is the agent of SynthER and PGR (conglu1997/SynthER:
// config/online/sac.gin; watchernyu/REDQ: redq/algos/redq_sac.py).
func DefaultConfig(obs, act int) Config {
	return Config{
		Obs: obs, Act: act, Hidden: []int{256, 256}, Critics: 2, Subset: 2,
		Gamma: 0.99, PolicyDelay: 20, InitialAlpha: 1,
	}
}

// Validate says in one line what is wrong with c, or returns nil.
func (c Config) Validate() error {
	switch {
	case c.Obs < 1 || c.Act < 1:
		return fmt.Errorf("agent: %d observations and %d actions, want at least 1 each", c.Obs, c.Act)
	case len(c.Hidden) == 0:
		return fmt.Errorf("agent: hidden is empty, want at least one layer")
	case c.Critics < 1:
		return fmt.Errorf("agent: critics is %d, want at least 1", c.Critics)
	case c.Subset < 1 || c.Subset > c.Critics:
		return fmt.Errorf("agent: subset is %d, want 1 to critics (%d)", c.Subset, c.Critics)
	case !(c.Gamma >= 0 && c.Gamma < 1):
		return fmt.Errorf("agent: gamma is %g, want a number from 0 to below 1", c.Gamma)
	case c.PolicyDelay < 1:
		return fmt.Errorf("agent: policy_delay is %d, want at least 1", c.PolicyDelay)
	case c.PolicyQ != "" && c.PolicyQ != PolicyMean && c.PolicyQ != PolicyMin:
		return fmt.Errorf("agent: policy_q is %q, want one of %q", c.PolicyQ, []string{PolicyMean, PolicyMin})
	case !(c.InitialAlpha >= 0) || math.IsInf(c.InitialAlpha, 0):
		return fmt.Errorf("agent: initial_alpha is %g, want a number from 0 on", c.InitialAlpha)
	}
	if err := c.validateExploration(); err != nil {
		return err
	}
	for i, width := range c.Hidden {
		if width < 1 {
			return fmt.Errorf("agent: hidden layer %d has width %d, want at least 1", i+1, width)
		}
	}
	return nil
}

func (c Config) validateExploration() error {
	switch c.Exploration {
	case "", ExplorePolicy:
		return nil
	case ExploreNoisy:
		if !(c.NoisySigma > 0) || math.IsInf(c.NoisySigma, 0) {
			return fmt.Errorf("agent: noisy_sigma is %g, want a positive number", c.NoisySigma)
		}
		return nil
	case ExploreBootstrap:
		if c.Candidates < 2 || c.Critics < 2 {
			return fmt.Errorf("agent: exploration %q with %d critics and %d candidates, want at least 2 of each: there would be nothing to choose", c.Exploration, c.Critics, c.Candidates)
		}
		return nil
	}
	return fmt.Errorf("agent: exploration is %q, want one of %q", c.Exploration, []string{ExplorePolicy, ExploreNoisy, ExploreBootstrap})
}
