// Package agent is the contract between an experiment and a learner: who acts in the
// environment and learns from what it meets. A learner is a package of its own below
// this one, and none knows another: sac has SAC and REDQ, drqv2 has DrQ-v2, ppo has PPO.
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
//	Observer     keeps experience of its own: rollouts, sequences
//	Sighted      acts on stacks of frames, and draws its batches from Frames
//	Shifter      shows what it makes of the frames of a batch
//	Encoder      fills D_real with what it makes of frames or numbers
//	Rememberer   an Encoder of numbers that keeps the transitions behind D_real
//	Phased       works in slices between env steps, in phases that it names
//	Preparer     takes a device's memory before the run begins
//
// Values for relevance functions (Q, the error of temporal differences) are an interface
// of package relevance; a learner without them is one on which those functions are
// refused.
//
// # The registry
//
// A learner declares itself with a Spec: its name, which is agent.learner in a
// configuration, its own settings, the knobs that act on it and how to make one.
//
// # How known algorithms fit
//
// SAC and REDQ are OffPolicy, Prioritizer and Preparer. DrQ-v2 is Sighted and Phased
// ("learn", an update of which a slice is some rows of the batch): an update on frames of
// full size takes longer than a command may wait. Beside a generator it is an Encoder:
// latents for D_real are made anew in a phase "encode" before a refit; that encoder and
// trunks are frozen from a step on is a setting of its own. PPO is Observer (a rollout of
// all copies) and Phased ("learn", a slice is a minibatch); beside a generator it makes D_real
// of latents of its last rollouts in a phase "encode". DreamerV3 is Observer
// (sequences, with the latent that each step began in) and Phased, and its state per copy
// is the latent and the last action.
//
// # What D_real holds
//
// D_real holds the environment's transitions, unless the learner's Spec has Rows: then it
// holds rows of that shape, and the learner fills it itself in its phases, as DrQ-v2 and
// PPO do in "encode" when a refit is due. Everything of prioritized generative replay,
// the prompts, G and D_syn, sees nothing else; F may look at the frames or numbers behind a
// row (Encoder.Recall). What is about observations of the
// environment, the critics' bias and the error of generated dynamics, is left out then.
package agent
