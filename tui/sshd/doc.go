// Package sshd lets people without an account watch the runs of this machine over SSH: a server
// with its own key, a file of keys that may log in, and nothing behind them but the screens of
// runs.
//
// A key may watch or drive (keys.go). Options.Visit decides what a visitor gets; the server handles
// keys, terminals and limits (server.go, door.go). Screens that only watch and are alike, such as
// those of a class of students, share one drawing (gallery.go).
//
// # Why
//
// The server is a process of its own beside those that train, and connects to them with package
// remote, as pgrlab attach does: whatever an SSH client does, a run sees only screens that come and
// go.
//
// It is built on golang.org/x/crypto/ssh alone. The servers on top of that package that we examined
// let everybody in if no check of keys is given, have no roles and no limits before a login, and
// have a data race when a terminal changes its size.
package sshd
