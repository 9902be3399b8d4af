// Package sweep is the command sweep: a grid of runs, each in a process of its own; and sweep job,
// one run of the grid. core/sweep does the work.
package sweep
