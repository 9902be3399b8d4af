// Package agent is the contract between an experiment and a learner, which acts in the
// environment and learns from its experience. Each learner is a package of its own below
// this one, and none imports another: sac has SAC, REDQ and MAX, drqv2 has DrQ-v2, ppo has PPO,
// dreamer has DreamerV3.
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
// The rest are parts of Made, which Spec.New returns; nothing about a learner is found out in
// another way:
//
//	Batches  updates on batches of D_real mixed with D_syn, within the env step
//	Values   Q and the temporal-difference error, for relevance functions
//	Actions  samples of the policy and their values, for what-ifs
//	Encoder  fills D_real with its encoding of frames or numbers
//	Phases   work in slices between env steps, in phases with names
//	Prepare  takes a device's memory before the run begins
//	Rolled is rolled out by generators, where that is another policy than the learner's
//
// Others only show what a learner does (Chances, Crops, Remark) or say what it will take (Unfilled).
// A learner that learns from env steps in their order keeps none of them: it reads the log of the run
// (Deps.Log, package experience), which holds as much as its Spec says.
//
// # The registry
//
// A learner declares itself with a Spec: its name, which is agent.learner in a
// configuration, its own settings, the knobs that act on it and its constructor.
//
// # How known algorithms fit
//
// SAC and REDQ have Batches, Values and Actions.
//
// MAX is two of them, in package sac as learner max: one acts in training and learns F of generated rows
// (Spec.Explores), the other one is evaluated. An update is one of each, and half of the rollouts are of
// each (Rolled).
//
// DrQ-v2 takes frames and has a phase "learn", which is one update, cut into slices of some
// rows of the batch, because an update on frames of full size takes longer than a command
// may wait. With a generator it has an Encoder and Values, and makes the latents of D_real again in
// a phase "encode" before a refit. One of its own settings freezes encoder and trunks from a
// given step on.
//
// PPO reads a rollout of all copies from the log and has a phase "learn", whose slices are
// minibatches. With a generator it fills D_real with latents of its last rollouts in a
// phase "encode".
//
// DreamerV3 reads sequences from the log, with the latent in which each step began in memory of its own;
// its state per copy is the latent and the last action. Its phase "learn" is the updates of an env step.
//
// # What D_real holds
//
// D_real holds the environment's transitions, unless the learner's Traits have Rows: then it
// holds rows of that shape, and the learner fills it itself in its phases, as DrQ-v2 and
// PPO do in "encode" when a refit is due. The rest of prioritized generative replay (the
// prompts, G and D_syn) sees only these rows; F may also look at the frames or numbers
// that a row was made from (Encoder.Recall). Measures that concern the environment's observations, the
// critics' bias and the error of generated dynamics, are left out then.
package agent
