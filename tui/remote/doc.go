// Package remote lets people get to a lab that runs in another process of theirs on
// the same machine: its screen, its state, and what keys do from scripts.
//
// A lab listens on a Unix socket of mode 0600, in a folder of mode 0700 that is the
// user's own (place.go); a small file in the run folder names host, process and
// socket (notice.go). What goes over it are frames (wire.go): the client sends a
// hello, and then keys and sizes; the lab's process runs one screen program for each
// viewer (viewer.go) and sends what that writes. So a screen costs the client
// nothing but a terminal, and the lab nothing but what it draws.
//
// Both ends look at whose process the other one is (peer.go) before they believe a word:
// a run folder may come from another person, and a screen writes to the client's terminal.
//
// Of the screens of a run one drives (viewers.go); the others watch and may take over.
// Requests from scripts (control.go) go past that, and are answered when the run has
// done what was asked.
//
// # Why
//
// A viewer that does not read holds up the writes of its own program, and nothing
// else: its model looks at no snapshots meanwhile, so that frames are left out, not
// kept. What waits for it is what the socket's buffer holds.
package remote
