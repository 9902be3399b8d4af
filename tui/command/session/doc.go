// Package session is one run of this process: on the screen (lab.go), chosen there first
// (picker.go), or without one (train.go). A session begins (session.go) or goes on with a
// checkpoint (resume.go), shows the run to screens of other processes (serving.go), forks it
// (forks.go), and is handed over to a process of its own when the screen is left
// (handover.go, and successor.go at the other end).
package session
