// Package analyse is the command analyse: looking at checkpoints of a run, fitting other
// generators to its data (--refit), and training its agent with other rows (--what-if). The
// work is in core/inspect, core/lab and core/whatif; here are the flags, tables and pictures.
package analyse
