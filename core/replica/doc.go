// Package replica implements one replica of an agent: the agent with its copies of the
// environment, its own generator G and relevance functions F, D_real and D_syn, and its own
// random numbers. A run trains a cohort of replicas, whose members differ only in the seed; with
// one seed there is one member.
//
// A Replica does what Algorithm 1 of prioritized generative replay (Wang et al., ICLR 2025) asks
// of one agent, in separate calls: an env step (EnvStep), updates on batches mixed by r (Update,
// TrainModels), scores of real transitions (StartScoring, Score), a fit and a generation
// (StartFit, FitSteps, StartGenerate, GenerateSlice), whole episodes of evaluation
// (StartEvaluation, Evaluate). What its models and its learner do between an env step and a refit
// is a list of Phases. The loop that drives a replica decides when these are called and
// what comes between: a replica has no commands and no folder. It reports what happens to it to a Host.
//
// The whole state of a replica can be saved between two calls (Saved, Sections) and restored
// (Restore, and Load of each section).
package replica
