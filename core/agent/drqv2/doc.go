// Package drqv2 is a learner: DrQ-v2 (Yarats, Fergus, Lazaric and Pinto 2022), a
// deterministic policy gradient with twin critics on frames that are shifted at random.
//
// # Networks
//
// The encoder E, 3×3 convolutions with ReLU over the stacked frames (bytes/255 − ½), serves
// policy and critics. Each of them has a trunk of its own after E, T(h) = tanh
// LayerNorm(W·h+b): π(s) is tanh of an MLP on T_a(E(s)), Qₖ(s,a) an MLP on [T_c(E(s)), a].
// The targets Q̄ₖ and T̄_c follow the critics; E has no target network. Weights are orthogonal.
//
// # One update
//
// An update has the order of facebookresearch/drqv2: drqv2.py, which the numbers depend on:
//
//  1. Draw n steps for each row; shift s and s′ by whole pixels, each independently.
//  2. y = R + γⁿ·min over k of Q̄ₖ(T̄_c(h′), ã(T_a(h′))), h′ = E(s′), without gradient, with
//     ã(z) = clamp(π(z) + clip(σ·ε)).
//  3. Critics, their trunk and E step along Σₖ mean (Qₖ(T_c(h), a) − y)², h = E(s).
//  4. Policy and T_a step along −mean of min over k of Qₖ(T_c(h), ã(T_a(h))), with h from
//     before E's step and the critics from after theirs. Settings.Preactivation c adds
//     c·mean over rows of |u|², π = tanh u, and Settings.PreactivationOfQ κ the same with
//     κ·mean |Q| for c; the means of synthetic rows are their own.
//  5. The targets move by τ.
//
// The clamp of an action lets its gradient pass. σ(t) falls linearly with the env steps;
// acting adds σ·ε unclipped, evaluations add nothing.
//
// # Latents
//
// With a generator the learner is a Latent. D_real then holds rows [z, a, R, z′, d] with
// z = [T_c(h), T_a(h)], as SynthER does on pixels (Lu et al. 2023); R is the return of n env
// steps and z′ the latents after them. D_real is remade before each refit from all windows
// of frames that there are, unshifted, with E and the trunks as they are then; D_syn stays
// as it was generated. In an update synthetic rows enter after the trunks: they move the
// heads alone, z′_c stands in for T̄_c(h′), and both losses are means over all rows.
//
// The encoder keeps learning, but D_syn does not change until the next generation.
//
// # Slices
//
// An update is cut into slices, so that a command waits for a part of it only. Steps 1 to 3
// are one slice for every Settings.Slice rows of the batch; the slices' gradients are added
// in the order of the rows, and the last slice makes the step. Slices have equally many rows
// where a few can have; otherwise the last one has fewer. Steps 4 and 5 are one more slice,
// over the whole batch. Synthetic rows, which cost a tenth, go with the first slice. On a device
// that does not need the host between programs (device.Sequencer: a GPU), steps 1 to 3 are one
// slice: it takes milliseconds, and in slices E(s) would go to the host and back.
//
// Such a device also keeps a copy of the frames and makes the images itself (package images).
//
// # State
//
// Random numbers are indexed by the number of the update and the row. Within an update the
// only state is E's output for the batch, and only once the critics have stepped; a run that
// is continued repeats what comes before.
package drqv2
