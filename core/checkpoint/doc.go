// Package checkpoint is what a checkpoint of a run holds and how it comes back: the section
// of the loop (Loop), those of the members of the cohort (package replica), the log of D_real
// and a D_syn or what it is made from. Load brings the members of a run to where one was
// taken; Fork makes the folder of another run that goes on from there. Files and folders are
// package run's, and when checkpoints are taken is package lab's affair.
//
// A file that somebody else made must not harm: everything that is read is held to what the
// configuration has room for before it is used.
package checkpoint
