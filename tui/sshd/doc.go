// Package sshd lets people look at the runs of this machine over SSH who need no account on
// it: a server with a key of its own, a file of keys that may come in, and nothing behind
// them but the screens of runs.
//
// A key watches or drives (keys.go). What a visitor gets is up to Options.Visit; the server
// knows keys, terminals and limits (server.go, door.go). Screens that only look and are
// alike, those of a class for instance, share one that is drawn (gallery.go).
//
// # Why
//
// The server is a process of its own beside those that train, and comes to them as package
// remote does for pgrlab attach: whatever an SSH client does, a run notices no more than
// screens that come and go.
//
// It is built on golang.org/x/crypto/ssh alone. Servers on top of it that were looked at let
// everybody in where no check of keys is given, know no roles and no limits before a login,
// and race when a terminal changes its size.
package sshd
