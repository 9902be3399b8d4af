// Package report makes tables and figures from the journals of runs, and writes
// runs in formats of other programs. It reads run folders and changes none.
//
// A Cell is what was run: one task, method and scale with the same settings, and
// what hands changed while it went on. Its numbers are taken over seeds, never
// over episodes, and never over runs that were touched together with runs that
// were not. Statistics follow Agarwal et al., "Deep reinforcement learning at the
// edge of the statistical precipice" (NeurIPS 2021): interquartile mean,
// stratified bootstrap, probability of improvement.
//
// # Why
//
// Beside the folder of a run (package run) it needs random numbers for the
// bootstrap, which come from a stream of package rng as everywhere else: the same
// runs make the same report, byte for byte. What the paper and others report is
// handed in: this package knows no task and no preset.
package report
