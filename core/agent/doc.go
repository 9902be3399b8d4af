// Package agent is the contract between an experiment and a learner, which acts in the
// environment and learns from its experience. Each learner is a package of its own below
// this one, and none imports another: sac has SAC and REDQ, drqv2 has DrQ-v2, ppo has PPO.
//
// # What every learner does
//
// A Learner acts (Policy), shows its layers (Activations), and is saved and loaded
// whole. It belongs to one goroutine and one replica: the experiment makes one for each
// seed.
//
// Acting is one call for all copies of the environment that step together: the copies
// that a replica trains in, or the episodes of an evaluation. The learner does not hold what
// a policy remembers within an episode. The caller keeps it as rows of numbers, one for each
// copy (Acting.State), zeroes a row when an episode begins and saves the rows with the run.
// Training, evaluation and a loaded run therefore never share a memory. A Mode says
// whether the action explores, is the policy's mean, or is a sample of the policy as it
// is evaluated.
//
// # What some learners do
//
// The rest is small interfaces, which an experiment asks for by type assertion:
//
//	OffPolicy    updates on batches of D_real mixed with D_syn, within the env step
//	Prioritizer  returns the errors of the last batch, which become priorities
//	Observer     keeps experience of its own: rollouts, sequences
//	Sighted      acts on stacks of frames, and draws its batches from Frames
//	Shifter      shows how it shifted the frames of a batch
//	Encoder      fills D_real with its encoding of frames or numbers
//	Rememberer   is an Encoder of numbers that keeps the transitions behind D_real
//	Phased       works in slices between env steps, in phases that it names
//	Preparer     takes a device's memory before the run begins
//
// Values for relevance functions (Q, the temporal-difference error) are an interface of
// package relevance; those functions are refused on a learner that lacks it.
//
// # The registry
//
// A learner declares itself with a Spec: its name, which is agent.learner in a
// configuration, its own settings, the knobs that act on it and its constructor.
//
// # How known algorithms fit
//
// SAC and REDQ are OffPolicy, Prioritizer and Preparer.
//
// DrQ-v2 is Sighted and Phased: its phase "learn" is one update, cut into slices of some
// rows of the batch, because an update on frames of full size takes longer than a command
// may wait. With a generator it is an Encoder, which remakes the latents of D_real in a
// phase "encode" before a refit. One of its own settings freezes encoder and trunks from a
// given step on.
//
// PPO is Observer (a rollout of all copies) and Phased ("learn", whose slices are
// minibatches). With a generator it fills D_real with latents of its last rollouts in a
// phase "encode". DreamerV3 would be Observer (sequences, with the latent in which each
// step began) and Phased; its state per copy is the latent and the last action.
//
// # What D_real holds
//
// D_real holds the environment's transitions, unless the learner's Spec has Rows: then it
// holds rows of that shape, and the learner fills it itself in its phases, as DrQ-v2 and
// PPO do in "encode" when a refit is due. The rest of prioritized generative replay (the
// prompts, G and D_syn) sees only these rows; F may also look at the frames or numbers
// behind a row (Encoder.Recall). Measures that concern the environment's observations, the
// critics' bias and the error of generated dynamics, are left out then.
package agent
