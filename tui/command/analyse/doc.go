// Package analyse is the command analyse: it examines checkpoints of a run, fits other generators
// to its data (--refit), and trains its agent with other rows (--what-if). The work is done in
// core/inspect, core/offline and core/whatif; this package has the flags, tables and pictures.
package analyse
