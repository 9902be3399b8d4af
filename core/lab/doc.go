// Package lab is one running experiment: Algorithm 1 of prioritized generative
// replay (Wang et al., ICLR 2025) on a cohort of agents, the knobs that are
// turned while it runs, and its journal.
//
// # Where to read
//
// algorithm.go has Algorithm 1 as a list of phases, driver.go what drives them and enters
// one where a run was saved. What the phases do with every member of the cohort is in
// collect.go (act, step, store; updates of the agent), learn.go (of agents with phases of
// their own), refit.go (score, fit, generate), evaluate.go and analyse.go; what one member
// does there is package replica. control.go applies commands between two slices; package
// redo follows a change of a knob until a batch contains data made with it. checkpoint.go,
// save.go and resume.go keep a run, as package checkpoint has it and through the writer of
// package run.
// What a run is made from is in package config, environments in package task, knobs in
// package knob, what a run says in package event, looking at it in package inspect.
//
// # Roles
//
// What a run consists of are types that own their state; the doc comment of each says what
// it may touch. Each knows only those above it, experiment connects them (experiment.go):
//
//	place         where the run is; the driver moves it
//	journal       what the run says, in memory and on the disk
//	meter.Meter   what its parts take
//	cohort        the members by when they compute: side by side, or in turn
//	gate          whether training goes on: pause, fault, disk, device
//	redo.Changes  what must be redone after a change, and what it waits for
//	steering      knobs, and the schedule of their changes
//	checkpointer  when the run is saved, and what becomes of it
//	views         the members as package inspect sees them
//	asides        previews, analyses on demand, maps and dreams, beside training
//	refit         lines 3, 5 and 6 of Algorithm 1
//	analyses      the examinations on their cadence
//	control       commands and schedule, at the places between two slices
//	experiment    the driver, what a run is made from, and what a checkpoint has of it
//
// Two calls go up: a journal whose line the disk refuses closes the gate, and one whose
// line is written tells the checkpointer's writer. What a role asks of the members, or of
// all roles at once, are functions that experiment gives it.
//
// # Goroutines
//
// Run is the training goroutine. Members of a cohort may compute beside it, each on workers
// of its own; it waits for them, and says what they have to say (host). Everything else
// sees three things of a Lab, and none of them makes training wait: Snapshot (the latest state, an atomic
// pointer), Events (the log of what must not be lost) and Send (a bounded
// mailbox). Commands are taken out of the mailbox between slices only, so what
// they change, changes at a Position that can be written down and repeated.
//
// # Slices and positions
//
// Work is cut by count, never by time: one env step with its updates; 4,096
// scored transitions; a number of generator steps that Config fixes; one network
// call of the sampler; 25 lockstep steps of the evaluation. Random numbers are
// indexed by what they are for, not drawn in order. The same configuration, seed
// and device therefore give the same journal, whenever a run was paused, watched
// or told something that was repeated by a schedule.
//
// # Checkpoints
//
// A run can be saved at every place between two slices: the middle of a fit, of a
// generation or of an evaluation is part of the state. The training goroutine
// copies it in memory; a writer of its own compresses it and puts it on the disk.
// A part that a member owns is saved if it has Save and Load, so that a new one is
// never forgotten. Restore goes on from the last checkpoint: the
// journal becomes that of a run which was never interrupted, for the changes that
// were made behind the checkpoint are scheduled again. A checkpoint is taken at a
// cadence of time; that is no breach of the above, for it changes nothing.
package lab
