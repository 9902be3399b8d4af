// Package lab is one running experiment: Algorithm 1 of prioritized generative
// replay (Wang et al., ICLR 2025) on a cohort of agents, the knobs that are
// turned while it runs, and its journal.
//
// # Where to read
//
// algorithm.go has Algorithm 1 as a list of phases; driver.go drives them, and enters a phase
// where a run was saved. What the phases do with every member of the cohort is in collect.go
// (act, step, store; updates of the agent), lockstep.go (phases of its own, as those of learners), refit.go
// (score, fit, generate), evaluate.go and analyse.go; what one member does in them is package
// replica. control.go applies commands between two slices; package redo follows a change of a
// knob until a batch contains data made with it. checkpoint.go, save.go and resume.go save and
// restore a run, in the format of package checkpoint and through the writer of package run.
//
// What a run is made from is in package config, environments are in package task, knobs in
// package knob, what a run reports in package event, and the inspection of a run in package
// inspect.
//
// # Roles
//
// A run consists of types that own their state; the doc comment of each says what it may touch.
// Each refers only to those above it in this list; experiment connects them (experiment.go):
//
//	place         where the run is; the driver moves it
//	journal       what the run reports, in memory and on the disk
//	cost.Meter    the time that its parts take
//	cohort        decides when the members compute: side by side, or in turn
//	gate          whether training goes on: pause, fault, disk, device
//	redo.Changes  what must be redone after a change, and what it waits for
//	steering      knobs, and the schedule of their changes
//	checkpointer  when the run is saved, and the result of that
//	views         the members as package inspect sees them
//	asides        previews, analyses on demand, maps and dreams, beside training
//	refit         lines 3, 5 and 6 of Algorithm 1
//	analyses      the examinations on their cadence
//	control       commands and schedule, at the places between two slices
//	experiment    the driver, what a run is made from, and what a checkpoint keeps of it
//
// Two calls go up: a journal closes the gate when the disk refuses a line, and notifies the
// checkpointer's writer when a line is written. What a role asks of the members, or of all roles
// at once, is a function that experiment gives it.
//
// # Goroutines
//
// Run is the training goroutine. Members of a cohort may compute on goroutines beside it, each
// with workers of its own; Run waits for them and passes on what they report (host). Everything
// else sees three things of a Lab, none of which makes training wait: Snapshot (the latest
// state, an atomic pointer), Events (the log of what must not be lost) and Send (a bounded
// mailbox). Commands are taken out of the mailbox only between slices, so every change happens
// at a Position that can be written down and repeated.
//
// # Slices and positions
//
// Work is cut by count, never by time: one env step with its updates; 4,096 scored transitions;
// a number of generator steps that Config fixes; one network call of the sampler; 25 lockstep
// steps of the evaluation. Random numbers are indexed by what they are for, not drawn in order.
// The same configuration, seed and device therefore give the same journal, no matter when a run
// was paused or watched, or whether a command came from a person or is repeated by a schedule.
//
// # Checkpoints
//
// A run can be saved between any two slices: the middle of a fit, of a generation or of an
// evaluation is part of the state. The training goroutine copies the state in memory; a separate
// writer compresses it and puts it on the disk. A part that a member owns is saved if it has
// Save and Load, so that a new part is never forgotten. Restore goes on from the last
// checkpoint: the journal becomes that of a run which was never interrupted, because the changes
// that were made after the checkpoint are scheduled again. Checkpoints are taken at intervals of
// time; that does not break the rule above, because a checkpoint changes nothing.
package lab
