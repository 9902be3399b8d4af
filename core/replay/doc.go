// Package replay keeps transitions and samples batches of them. D_real, the transitions that the
// agent has met, and D_syn, those that the generator made, are the same kind of ring. A Mixer
// samples the mixture of both on which Algorithm 1 trains the policy (line 7; Wang et al. 2025).
//
// # Rows
//
// A transition is a row [s, a, r, s', d] of float32 numbers. d is 1 if the task truly ended and the
// value of s' is therefore 0; the end of an episode by a time limit is not such an end and must be
// stored as 0.
//
// # Determinism
//
// Samples are indexed by (stream, occasion, item), so the only state of a Mixer is the counter that
// its caller keeps anyway. Prioritized has a state, the weights of its transitions. Its sums depend
// on these weights alone, so that a loaded state continues bit for bit.
package replay
