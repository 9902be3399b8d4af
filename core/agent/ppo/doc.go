// Package ppo is a learner: proximal policy optimisation (Schulman et al. 2017) of a policy
// that chooses among actions, as openai/baselines: ppo2 has it and
// google-research/episodic-curiosity uses it.
//
// # Networks
//
// One trunk of layers with tanh serves policy and value: logits of the actions and V(s) are a
// layer each on its last one. Weights are orthogonal: √2 in the trunk, 0.01 for the logits, 1
// for the value; biases begin at 0.
//
// # One iteration
//
// A rollout is Settings.Steps env steps of every copy of the environment. Then
//
//  1. log π_old(a|s) and V_old(s) of its rows, of the policy that chose the actions.
//
//  2. δ = r + γ·V_old(s′) − V_old(s), A = δ + γλ·A′, R = A + V_old: generalised advantages
//     (Schulman et al. 2016), which end where an episode does.
//
//  3. Settings.Epochs times all rows in a new order, in Settings.Minibatches equal parts, a
//     step of Adam on each:
//
//     −mean min(ρA, clip(ρ, 1−ε, 1+ε)A) − c·mean H
//     + w·½·mean max((V−R)², (V_old + clip(V−V_old, −ε, ε) − R)²)
//
//     with ρ = π/π_old, H the entropy, A standardised within the part, and the gradient's
//     norm bounded. ε and the rate fall linearly with the env steps.
//
// A time limit is an end like any other there, and what is behind it counts as nothing;
// Settings.Limits can have it count by its value.
//
// # Choices
//
// An action is a row with 1 at the chosen one. Exploring and sampling choose by the largest of
// logits and Gumbel noise, which is indexed by env step, copy and action; the mean is the
// likeliest action.
//
// # State
//
// A unit of the phase "learn" is a part of the rows; between two of them the rollout with what
// was computed of it is what a file has beside weights and moments. Orders and noise are
// functions of the seed, the iteration and the env step.
package ppo
