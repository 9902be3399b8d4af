// Package dreamer is a learner: DreamerV3 (Hafner, Pasukonis, Ba and Lillicrap, Nature 2025), as implemented in
// danijar/dreamerv3 @e3f0224. It learns a recurrent model of the world from sequences of what was observed, and
// a policy and a critic from what the model imagines. The defaults are that program's for states (dmc_proprio,
// size1m): 639,964 parameters on cheetah-run. The version of 2023 had other sizes, optimiser and gradients.
//
// # The model of the world
//
// A latent is deterministic numbers (deter) and groups of one-hot classes (stoch). In an env step the recurrent
// layers make the next deter from the latent and the action; the posterior draws stoch from deter and the tokens
// of the observation, the prior from deter alone. Heads on [deter, stoch] decode the observation and expect its
// reward and whether the episode goes on.
//
//	deter' = u ⊙ tanh(r ⊙ c) + (1−u) ⊙ deter     r, c, u from block-linear layers of [deter, stoch, a]
//	loss = |decoded − symlog s|² + CE(reward) + CE(goes on) + max(1, KL(sg post ‖ prior)) + 0.1·max(1, KL(post ‖ sg prior))
//
// The gradient of a drawn class goes straight to its probability; a hundredth of each group's probability is
// spread evenly.
//
// Frames are seen through four convolutions, each with a pooling that halves the frame, and painted by four that
// each follow an enlargement; the loss is |painted − colours/255|² (vision.go). Open-loop predictions are painted in the same way.
//
// # The policy
//
// From all latents of a batch the model imagines Settings.Imagine env steps with the policy. With the expected
// rewards, values and continuations, λ-returns R, step weights w (the probability that the episode has gone on)
// and a scale S (the range of returns between two percentiles, as it moves, at least 1):
//
//	policy: −Σ w·(log π(a|z)·(R − v)/S + η·H)     critic: Σ w·(CE(R) + CE(v̄)), v̄ the slow critic's mean
//
// The critic also learns returns along the replayed env steps, weighed 0.3; that gradient reaches the model.
// Rewards and values are distributions over bins that are even after symlog. No gradient passes through what is
// imagined.
//
// # One update
//
// Gradients through the recurrence take ten programs (programs.go) instead of one graph of the whole sequence:
// observe makes an env step of all sequences, back repeats it and takes the gradient through it, from the last
// env step to the first, and step moves all parameters along the sums that the programs have collected. An
// update is cut into units of some milliseconds (phase.go); between two of them a run may be saved. What a saved
// run had done of an update it makes again.
//
// # Sequences
//
// Each look of a copy of the environment is learned from once in a sequence of new looks; the other sequences
// are uniform over the newest million env steps, across the ends of episodes. A sequence starts in the latent
// in which its first look was last seen: when the policy acted there, or in the last update that had it
// (memory.go). Updates begin when there are as many sequences as a batch has env steps.
//
// # Choices
//
// Evaluations act by the policy's mean, at posteriors that are drawn; upstream draws both. An action is kept as
// the environment got it, clamped to [-1,1]: the recurrent layers see no more of it upstream either. Latents are
// kept with 16 bits a number. With fewer than one update in an env step, updates come in every env step whose
// number is a multiple; upstream counts from its first update.
package dreamer
