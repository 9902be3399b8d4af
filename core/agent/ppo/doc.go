// Package ppo is a learner: proximal policy optimisation (Schulman et al. 2017) of a policy
// that chooses among actions, as implemented in openai/baselines: ppo2 and used by
// google-research/episodic-curiosity.
//
// # Networks
//
// One trunk of layers with tanh serves policy and value: the logits of the actions and V(s)
// are one layer each on the trunk's last one. Weights are orthogonal: √2 in the trunk, 0.01
// for the logits, 1 for the value; biases begin at 0.
//
// If a run's observation is pixels, the networks see one frame as byte/255. Three convolutions
// (8×8 with stride 4, 4×4 with 2, 3×3; 32, 64 and 64 channels) come before the trunk, and all
// activations are ReLUs, as in openai/baselines: policies.py, nature_cnn. The run's
// log keeps frames as bytes, a GPU has a copy of them for the steps of an iteration (package images), and the
// steps' programs make numbers of them.
//
// # One iteration
//
// A rollout is Settings.Steps env steps of every copy of the environment. An iteration then
//
//  1. computes log π_old(a|s) and V_old(s) of its rows, with the policy that chose the actions,
//
//  2. computes δ = r + γ·V_old(s′) − V_old(s), A = δ + γλ·A′, R = A + V_old: generalised
//     advantages (Schulman et al. 2016), which end where an episode does,
//
//  3. goes through all rows Settings.Epochs times, each time in a new order and in
//     Settings.Minibatches equal parts, and makes a step of Adam on each part, with the loss
//
//     −mean min(ρA, clip(ρ, 1−ε, 1+ε)A) − c·mean H
//     + w·½·mean max((V−R)², (V_old + clip(V−V_old, −ε, ε) − R)²)
//
//     with ρ = π/π_old, H the entropy, A standardised within the part, and the gradient's
//     norm bounded. ε and the rate fall linearly with the env steps.
//
// A time limit is an end like any other there, and what comes after it counts as nothing.
//
// # Beside a generator
//
// Prioritized generative replay on PPO is a reconstruction: Wang et al. (ICLR 2025) describe it
// in a few sentences of an appendix on mazes, and released none of it. D_real is remade before
// each refit from the transitions of the last Settings.Window iterations, as rows [z, a, r, z′, d],
// where z is the trunk's output for s at that time, so that D_real never mixes two trunks. Of the
// transitions with a reward that have left the window, Settings.KeepRewarded stay. G sees these
// rows; F sees them too, or the original observations.
//
// The run's log keeps what was seen in the window, each look once, and for longer what is pinned:
// transitions with a reward, and the rows to align by. The learner has what each row of D_real was made from
// (Latent.Recall), and F may look at the frames themselves. The trunk then ends with a ReLU, so
// that z has no upper bound.
//
// Rewards of D_real are the observed ones, including a bonus if there is one: V is of that sum.
// Which transitions have a reward, and so are kept longer, depends on the task's own reward.
//
// Besides its part of the rollout a step then has synthetic rows: for each real row as many as
// the knob ratio gives a batch. The action of a generated row is its largest number, z is clamped
// to [-1,1], or for frames to numbers that are not negative, and the reward is 0 or the largest
// of D_real, but as generated in a run with a bonus. With π_old and V_old, the heads as they were when the
// iteration began,
//
//	y = r + γ(1−d)V_old(z′), A = y − V_old(z), ρ = π(a|z)/π_old(a|z)
//
// and the losses above are means over both kinds of rows, A standardised in each kind separately. In
// mazes d is 0 in all of them, so that V is learned from synthetic rows as if there were no time limit.
// z is given, so that synthetic rows move the heads and not the trunk. With Settings.Synthetic
// "value" they have no part in the policy's loss and the entropy.
//
// Until the next refit D_syn holds latents of an older trunk, while the trunk moves: in an
// iteration by three quarters of the variance of latents, in the twelve between two refits by
// eleven times that (maze-sparse, scale demo). Before each epoch Settings.AlignRows rows of
// D_real are therefore encoded again, and an affine map from their old latents to the new ones is
// fitted; it leaves 2 % of the variance after an iteration, 11 % after twelve. The map to the
// present trunk is applied to generated z before they are learned from, and the map to the trunk
// at the iteration's beginning to z and z′ before they are judged. If a refit is given up after
// D_real was remade, D_syn stays that of before, and until the next one its latents and rewards
// are read as if they were of the new D_real.
//
// # Choices
//
// An action is a row with 1 at the chosen one. Exploring and sampling choose the largest of the
// logits plus Gumbel noise, which is indexed by env step, copy and action; the mean is the
// likeliest action.
//
// # State
//
// A unit of the phase "learn" is a part of the rows. Between two units a file holds, besides
// weights and moments, where the rollout begins and what was computed from it. Orders and noise are
// functions of the seed, the iteration and the env step.
package ppo
