// Package experience keeps what the copies of an environment showed, each look once, with the env
// steps between the looks. A Log holds the newest of it, and what is pinned for longer; views read
// it: Frames draws rows of batches, Windows lists them, Rollout is what a learner on policy learns
// from, Chosen what D_real is made of, Transitions the newest env steps as rows, Sequences looks in a row
// for models of time.
//
// Tables of rows, like D_real itself and generated rows, are replay.Rings.
package experience
