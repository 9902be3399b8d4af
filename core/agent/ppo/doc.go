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
// Where a run's observation is pixels, the networks see one frame as byte/255: three convolutions
// (8×8 with stride 4, 4×4 with 2, 3×3; 32, 64 and 64 channels) stand in front of the trunk, and
// all activations are ReLUs, as in openai/baselines: policies.py, nature_cnn. A rollout keeps its
// frames as bytes.
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
// # Beside a generator
//
// Prioritized generative replay on PPO is a reconstruction: Wang et al. (ICLR 2025) have a few
// sentences of it in an appendix on mazes, and nothing of it was released. D_real is made anew
// before each refit, of the transitions of the last Settings.Window iterations: [z, a, r, z′],
// where z is what the trunk says of s at that time, so that no two trunks meet in it. Of those
// with a reward that have left the window Settings.KeepRewarded stay. G sees these rows, and F
// too, or the observations of the time.
//
// Where frames are seen the run keeps those of the window, each once, and the learner those of
// transitions with a reward: a row of D_real says what it was made from (Latent.Recall), and F
// may look at the frames themselves. Their trunk ends with a ReLU, so that z has no upper bound.
//
// Rewards of D_real are as they were observed, where a bonus is on them with it: V is of that sum.
// What has a reward, to be kept longer, goes by the task's own.
//
// A step then has, beside its part of the rollout, for each row as many synthetic ones as the
// knob ratio has it in a batch. Of a generated row the action is its largest number, z is held
// to [-1,1], or of frames to what is not negative, and the reward is 0 or the largest of D_real
// (Settings.DreamtReward). With π_old and V_old, which are the heads as the iteration found them,
//
//	y = r + γV_old(z′), A = y − V_old(z), ρ = π(a|z)/π_old(a|z)
//
// and the losses above are means over both kinds of rows, A standardised in each for itself.
// z is given, so that synthetic rows move the heads and not the trunk. With Settings.Synthetic
// "value" they have no part in the policy's loss and the entropy.
//
// Until the next refit D_syn says what an older trunk would have said, and a trunk moves: in an
// iteration by three quarters of the variance of latents, in the twelve between two refits by
// eleven times that (maze-sparse, scale demo). So before each epoch Settings.AlignRows rows of
// D_real are looked at anew, and an affine map of what they were to what they are is fitted; it
// leaves 2 % of the variance after an iteration, 11 % after twelve. Generated z pass it before
// they are learned from, and z and z′, as of the iteration's beginning, before they are judged.
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
