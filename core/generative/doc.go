// Package generative implements G of prioritized generative replay (Wang et al.,
// ICLR 2025, Algorithm 1, lines 5 and 6): a diffusion model of transitions that is
// fitted to the real replay buffer, conditioned on the relevance of each
// transition, and then sampled with relevant conditions as prompts.
//
// # Equations
//
//	vector         x = [s, a, r, s'(, d)], normalised per dimension      (Lu et al. 2023)
//	preconditioning D(x; σ, c) = c_skip·x + c_out·F(c_in·x, ln σ/4, c)     (Karras et al. 2022, eq. 7)
//	                c_skip = σ_d²/(σ²+σ_d²), c_out = σσ_d/√(σ²+σ_d²), c_in = 1/√(σ²+σ_d²)
//	                with σ_d of the whole data, or of each principal axis (coordinates)
//	noise levels   ln σ ~ N(P_mean, P_std²)                               (table 1)
//	loss           mean λ(σ)|D(x+σn) − x|², λ = 1/c_out²                  (eq. 8)
//	schedule       σ_i = (σ_max^{1/ρ} + i/(N−1)·(σ_min^{1/ρ} − σ_max^{1/ρ}))^ρ  (eq. 5)
//	sampler        stochastic Heun                                        (Algorithm 2)
//	guidance       D = D_∅ + ω(D_c − D_∅)                                  (Ho and Salimans 2021)
//	condition      c = 2(F − min)/(max − min) − 1 of the relevance F, replaced by
//	               the null condition with probability p_uncond while fitting
//	prompts        the conditions of the most relevant share of the real buffer
//
// The null condition is the zero vector after the condition's MLP, not F = 0,
// which is an ordinary condition.
//
// # Kinds
//
// Generator is the interface of a training loop to any G. The registry (Spec) holds the
// kinds: this diffusion model, a variational autoencoder, and a control that resamples
// real transitions. docs/recipes/generator.md shows how to add another one.
//
// # Slices
//
// A fit is cut into gradient steps and a generation into network calls, so that
// the caller can stop between any two of them. Random numbers are indexed by
// (refit, step, item) and (generation, level, sample), not by the order in which
// they are sampled, so neither the cut nor the size of a chunk changes them.
//
// # Heads
//
// Regressions that are fitted to the same real rows beside a generator can label the
// generated rows (HeadConfig):
//
//	change    ŝ' = s + μ(s, a), μ fitted to s' − s by squared error
//	outcome   r̂ (and d̂) = ν(s, a, ŝ'), within the range of the real r
//
// In a task without noise, s' and r are functions of s and a. A model of the joint
// distribution spends most of its work on these functions, and blurs a sharp r. The
// condition and the strength of guidance act on (s, a), through the generator alone.
// The heads see an angle without limits as its sine and cosine.
//
// # The loss as one squared error
//
// With y = x + σn, D(y) − x = c_out·F − (x − c_skip·y) = c_out·(F − target),
// where target = (x − c_skip·y)/c_out. Since λ(σ) = (σ²+σ_d²)/(σσ_d)² = 1/c_out²,
//
//	λ|D(y) − x|² = |F − target|²
//
// for every row, so the graph holds a plain mean squared error between F and a
// target that does not depend on the network (Karras et al. 2022, section 5).
package generative
