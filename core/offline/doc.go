// Package offline looks at runs on disk, at one of their checkpoints: it examines them and
// lays two beside each other, refits their generators with other settings, trains their
// agents with other rows (package whatif), and reads their buffers. It needs no loop, and
// writes nothing but what Record is for: the runs may go on meanwhile.
package offline
