// Package session is one run of this process: on the screen (lab.go), chosen there first
// (picker.go), or without a screen (train.go). A session begins (session.go) or resumes from a
// checkpoint (resume.go), shows the run to screens of other processes (serving.go), forks it
// (forks.go), and hands it over to a process of its own when the person leaves the screen
// (handover.go, and successor.go at the other end).
package session
