// Package replay keeps transitions and samples batches of them: D_real, the
// transitions that the agent lived through, and D_syn, those that the generator
// made, in one kind of ring, and the mixture of both that Algorithm 1 trains the
// policy on (line 7; Wang et al. 2025).
//
// # Rows
//
// A transition is a row [s, a, r, s', d] of float32 numbers. d is 1 where the
// task truly ended and the value of s' is therefore 0; the end of an episode by
// a time limit is not such an end and must be stored as 0.
//
// # Determinism
//
// Samples are indexed by (stream, occasion, item), so that the only state of a
// Mixer is the counter that its caller has anyway. Prioritized has a state, the
// weights of its transitions; its sums depend on these alone, so that what is
// loaded goes on bit for bit.
package replay
