package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"pgrlab/core/sweep"
)

// Exit statuses of the program.
const (
	StatusDone        = 0
	StatusFailed      = 1
	StatusUsage       = 2
	StatusElsewhere   = sweep.StatusElsewhere
	StatusAgain       = sweep.StatusAgain // saved, not done: run me again
	StatusInterrupted = 130               // 128 + SIGINT, after saving
	StatusTerminated  = 143               // 128 + SIGTERM, after saving
)

// A usageError is the user's to mend: a wrong flag, name or value.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// Usagef makes an error that is the user's to mend: a wrong flag, name or value.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// AsUsage marks an error as the user's to mend; nil stays nil.
func AsUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// A Signalled ends a run that was asked to end by a signal, after saving.
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
		if s.Signal == syscall.SIGTERM {
			return StatusTerminated
		}
		return StatusInterrupted
	case errors.As(err, &own):
		return own.ExitStatus()
	case errors.As(err, &u):
		return StatusUsage
	}
	return StatusFailed
}

// Line makes an error one line: libraries below write some over several.
func Line(err error) string {
	return strings.TrimSpace(strings.ReplaceAll(err.Error(), "\n", " "))
}
