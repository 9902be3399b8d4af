// Package offline works on runs on disk, at one of their checkpoints: it examines and compares
// runs, refits their generators with other settings, trains their agents with other rows (package
// whatif), and reads their buffers. It needs no loop and writes nothing except through Record, so
// the runs may go on meanwhile.
package offline
