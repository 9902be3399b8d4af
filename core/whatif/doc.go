// Package whatif separates which rows a generator is asked for from how well it makes them. From
// one checkpoint of a run, with everything else held fixed, the agent is trained once for each kind
// of rows, and the same quantities are measured each time.
//
// # The table
//
// The lines are the rows that are asked for:
//
//	real only      batches of D_real alone
//	unprioritized  D_syn of a generator fitted without a relevance function (SynthER)
//	F, ω, k        D_syn of a generator fitted with F, guided by ω, prompted with the
//	               share k of the real rows of largest F (PGR); at ω = 0 nothing is asked
//	               for and k has no effect
//
// The columns are what makes them: the generator or the simulator. The simulator is set to the state
// s of each row and stepped by its a, so that s', r and the end are those of the task ("oracle
// rows"). Both columns hold the same (s, a).
//
// # The measures
//
// Held-out rows are whole episodes that the checkpoint's policy plays after it was saved; nothing
// has seen them. With the policy and α unchanged, the critics alone make a number of updates. Then
// the held-out rows give
//
//	TD error     √mean (r + γ(1−d)(Q(s',a') − α·log π(a'|s')) − Q(s,a))², a' as played
//	value error  √mean (Q(s,a) − G)²
//	G            r + Σ γᵗ(rₜ − α·log π(aₜ|sₜ)), t from 1 on: what the critics estimate
//
// where Q is the mean over the critics. A value error consists of the mean of Q − G, the bias, and
// of its deviation, the scatter. Only the scatter says how well states are told apart: a policy is
// not affected if all values are too high, and pessimistic targets may hide values that were too
// high after others that are too low. So verdicts are by scatter and return. Only states with a
// practically complete future count: γ to the power of the time left in the episode is at most 0.01.
//
// Then critics and policy together make as many updates, again from the checkpoint, as the run
// would make them. The policy's mean action plays the episodes of an evaluation: the return. A repeat
// whose updates diverge has no numbers; rows with which all do, where the others' do not, hurt.
//
// Repeats draw everything again except the generators' fits and the held-out rows. Within a repeat
// all lines of the table share their random numbers: the real rows of a batch, the noise of samples
// and updates, the starts of episodes. Differences are therefore taken within repeats.
package whatif
