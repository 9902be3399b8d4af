// Package drqv2 is a learner: DrQ-v2 (Yarats, Fergus, Lazaric and Pinto 2022), a
// deterministic policy gradient with twin critics on frames that are shifted at random.
//
// # Networks
//
// E is convolutions of 3×3 with ReLU over the stacked frames (bytes/255 − ½), and serves
// policy and critics. Behind it each has a trunk of its own, T(h) = tanh LayerNorm(W·h+b):
// π(s) = tanh of an MLP on T_a(E(s)), Qₖ(s,a) an MLP on [T_c(E(s)), a]. The targets Q̄ₖ and
// T̄_c follow the critics; there is no average of E. Weights are orthogonal.
//
// # One update
//
// In the order of facebookresearch/drqv2: drqv2.py, which the numbers depend on:
//
//  1. n steps of each row, s and s′ shifted by whole pixels, each anew.
//  2. y = R + γⁿ·min over k of Q̄ₖ(T̄_c(h′), ã(T_a(h′))), h′ = E(s′), without gradient, with
//     ã(z) = clamp(π(z) + clip(σ·ε)).
//  3. Critics, their trunk and E step along Σₖ mean (Qₖ(T_c(h), a) − y)², h = E(s).
//  4. Policy and T_a step along −mean of min over k of Qₖ(T_c(h), ã(T_a(h))): h is what E
//     said before its step, and the critics have stepped. Settings.Preactivation c adds
//     c·mean of u², π = tanh u.
//  5. The targets move by τ.
//
// The clamp of an action lets its gradient pass. σ(t) falls linearly with the env steps;
// acting adds σ·ε unclipped, evaluations nothing.
//
// # Latents
//
// Beside a generator the learner is a Latent: D_real holds rows [z, a, R, z′, d] with
// z = [T_c(h), T_a(h)], as SynthER has them on pixels (Lu et al. 2023), R the return of n env
// steps and z′ the latents behind them. It is made anew before each refit of all windows of
// frames that there are, unshifted, with E and the trunks as they are then; D_syn stays as
// it was generated. In an update synthetic rows enter behind the trunks: they move the
// heads alone, z′_c stands in for T̄_c(h′), and both losses are means over all rows.
//
// Every Settings.AlignEvery env steps some rows of D_real are looked at anew, and an affine
// map of what they were to what they are, by least squares, is what generated latents pass
// from then on where an update reads them: the encoder moves on, D_syn does not.
//
// From Settings.FreezeAt on E and the trunks stay as they are, and the target's trunk is the
// critics': then latents are exact, as where SynthER froze them before it fitted.
//
// # Slices
//
// An update is cut so that a command waits for a part of it only: steps 1 to 3 are a slice
// for every Settings.Slice rows of the batch, whose gradients are added in the order of the
// rows, and the last of them makes the step; 4 and 5 are one slice more, over the whole
// batch. Synthetic rows, which cost a tenth, go with the first slice.
//
// # State
//
// Random numbers are indexed by the number of the update and the row. Within an update the
// state is what E said of the batch, and that only once the critics have stepped: what
// comes before is done again where a run goes on.
package drqv2
