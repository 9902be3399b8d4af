// Package replica is one replica of an agent: the agent itself with its copies of the
// environment, the generator G and the relevance functions F that are its own, D_real and
// D_syn, and random numbers of its own. A run trains a cohort of them, whose members differ
// in the seed alone; with one seed there is one.
//
// A Replica does what Algorithm 1 of prioritized generative replay (Wang et al., ICLR 2025)
// asks of one agent, in the portions in which it is asked: an env step (EnvStep), updates on
// batches mixed by r (Update, TrainModels), scores of real transitions (StartScoring,
// Score), a fit and a generation (StartFit, FitSteps, StartGenerate, GenerateSlice), whole
// episodes of evaluation (StartEvaluation, Evaluate). When that is, and what comes between,
// is the affair of the loop that drives it: a replica knows no phases but its learner's, no
// commands and no folder. What happens to it, it tells a Host.
//
// Everything that a replica has can be saved between two calls (Saved, Sections) and comes
// back as it was (Restore, and Load of each section).
package replica
