// Package remote connects people to a lab that runs in another of their processes on the same
// machine: to its screen, its state and, from scripts, to what its keys do.
//
// A lab listens on a Unix socket of mode 0600, in a folder of mode 0700 that belongs to the user
// (place.go); a small file in the run folder names host, process and socket (notice.go). The
// connection carries frames (wire.go): the client sends a hello, and then keys and sizes; the lab's
// process runs one screen program for each viewer (viewer.go) and sends what that program writes.
// So a screen costs the client only a terminal, and the lab only what it draws.
//
// Both ends check whose process the other one is (peer.go) before they trust it: a run folder may
// come from another person, and a screen writes to the client's terminal.
//
// One screen of a run drives (viewers.go); the others watch and may take over. Requests from
// scripts (control.go) bypass that rule, and are answered when the run has done what was asked.
//
// # Why
//
// A viewer that does not read blocks the writes of its own program, and nothing else. Its model
// then polls no snapshots, so frames are skipped, not queued; only what fits into the socket's
// buffer waits for it.
package remote
