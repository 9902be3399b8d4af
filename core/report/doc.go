// Package report makes tables and figures from the journals of runs, and writes
// runs in the formats of other programs. It reads run folders and changes none.
//
// A Cell groups runs of one task, method and scale with the same settings (with the
// length, if something follows it) and the same changes by hand. Its numbers are taken over seeds, never over episodes, and
// never over touched and untouched runs together. Statistics follow Agarwal et al.,
// "Deep reinforcement learning at the edge of the statistical precipice" (NeurIPS
// 2021): interquartile mean, stratified bootstrap, probability of improvement.
//
// # Why
//
// Besides the folder of a run (package run) a report needs random numbers for the
// bootstrap. They come from a stream of package rng, as everywhere else, so the same
// runs make the same report, byte for byte. The caller passes in the results that the
// paper and others report: this package has no task and no preset.
package report
