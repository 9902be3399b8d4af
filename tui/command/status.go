package command

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

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// asUsage marks an error as the user's to mend; nil stays nil.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// A signalled ends a run that was asked to end by a signal, after saving.
type signalled struct{ signal os.Signal }

func (s signalled) Error() string { return "ended by " + s.signal.String() }

// status is the exit status for what a command returned.
func status(err error) int {
	var s signalled
	var u usageError
	var a runAgain
	var e elsewhere
	switch {
	case err == nil:
		return StatusDone
	case errors.As(err, &s):
		if s.signal == syscall.SIGTERM {
			return StatusTerminated
		}
		return StatusInterrupted
	case errors.As(err, &a):
		return StatusAgain
	case errors.As(err, &e):
		return StatusElsewhere
	case errors.As(err, &u):
		return StatusUsage
	}
	return StatusFailed
}

// line makes an error one line: libraries below write some over several.
func line(err error) string {
	return strings.TrimSpace(strings.ReplaceAll(err.Error(), "\n", " "))
}
