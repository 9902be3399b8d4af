package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"pgrlab/core/sweep"
)

// The exit statuses of the program.
const (
	StatusDone        = 0
	StatusFailed      = 1
	StatusUsage       = 2
	StatusElsewhere   = sweep.StatusElsewhere
	StatusAgain       = sweep.StatusAgain // saved, but not done: run it again
	StatusInterrupted = 130               // 128 + SIGINT, after saving
	StatusQuit        = 131               // 128 + SIGQUIT, at once
	StatusTerminated  = 143               // 128 + SIGTERM, after saving
)

// A usageError is one that the user can fix: a wrong flag, name or value.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// Usagef makes an error that the user can fix: a wrong flag, name or value.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// AsUsage marks an error as one that the user can fix; nil stays nil.
func AsUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// A Signalled is the error of a run that a signal ended, after saving.
type Signalled struct{ Signal os.Signal }

func (s Signalled) Error() string { return "ended by " + s.Signal.String() }

// withStatus is an error that has an exit status of its own.
type withStatus interface {
	error
	ExitStatus() int
}

// ExitStatus is the exit status for what a command returned.
func ExitStatus(err error) int {
	var s Signalled
	var u usageError
	var own withStatus
	switch {
	case err == nil:
		return StatusDone
	case errors.As(err, &s):
		switch s.Signal {
		case syscall.SIGTERM:
			return StatusTerminated
		case syscall.SIGQUIT:
			return StatusQuit
		}
		return StatusInterrupted
	case errors.As(err, &own):
		return own.ExitStatus()
	case errors.As(err, &u):
		return StatusUsage
	}
	return StatusFailed
}

// Line turns an error into one line: some libraries write several.
func Line(err error) string {
	return strings.TrimSpace(strings.ReplaceAll(err.Error(), "\n", " "))
}
