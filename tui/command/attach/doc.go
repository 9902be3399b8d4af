// Package attach has the commands for runs of other processes: attach shows their screen,
// serve shows it over SSH, ps lists them, and stop, pause, park, resume and checkpoint do what keys of the screen do. which.go finds
// the run that is meant.
package attach
