// Package agent is the contract between an experiment and a learner: who acts in the
// environment and learns from what it meets. A learner is a package of its own below
// this one, and none knows another: sac has SAC and REDQ.
//
// # What every learner does
//
// A Learner acts (Policy), shows its layers (Activations), and is saved and loaded
// whole. It belongs to one goroutine and one replica: the experiment makes one for each
// seed.
//
// Acting is one call for all copies of the environment that step together: the copies
// that a replica trains in, or the episodes of an evaluation. What a policy remembers
// within an episode is not in the learner but in rows of numbers that the caller keeps,
// a row for each copy (Acting.State): the caller zeroes a row where an episode begins
// and saves it with the run, so that training, evaluation and a run that was loaded
// never share a memory. A Mode says whether the action explores, is the policy's mean,
// or is a sample of the policy as it is evaluated.
//
// # What some learners do
//
// The rest is small interfaces, which an experiment asks for by type assertion:
//
//	OffPolicy    updates on batches of D_real mixed with D_syn, inside of the env step
//	Prioritizer  the errors of the last batch, which become priorities
//	Observer     keeps experience of its own: rollouts, sequences, frames
//	Phased       works in slices between env steps, in phases that it names
//	Preparer     takes a device's memory before the run begins
//
// Values for relevance functions (Q, the error of temporal differences) are an interface
// of package relevance; a learner without them is one on which those functions are
// refused.
//
// How known algorithms fit: SAC and REDQ are OffPolicy, Prioritizer and Preparer. DrQ-v2
// is OffPolicy and Observer (frames), and makes its latents anew in a phase "encode"
// before a refit. PPO is Observer (a rollout of all copies) and Phased ("learn", a slice is
// a minibatch). DreamerV3 is Observer (sequences, with the latent that each step began in)
// and Phased, and its state per copy is the latent and the last action.
//
// What is not here yet: D_real has the shape of the environment's transitions. A learner
// whose F and G see latents will say that shape, and fill D_real in its phase "encode".
package agent
