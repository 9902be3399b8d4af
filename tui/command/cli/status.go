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

// Line turns an error into one line of a length that people read: some libraries write several, and
// some errors repeat a value from a file.
func Line(err error) string {
	return bounded(strings.TrimSpace(strings.ReplaceAll(err.Error(), "\n", " ")))
}

// The most characters that a word and a line of an error may have: a value from a file may have
// millions, which would hide what was wrong with it.
const (
	maxWord = 400
	maxLine = 4000
)

// bounded shortens the words of a line that are longer than any name or path, and the line itself.
func bounded(line string) string {
	words := strings.Split(line, " ")
	for i, w := range words {
		words[i] = cut(w, maxWord)
	}
	return cut(strings.Join(words, " "), maxLine)
}

// cut takes out the middle of a text that has more than most bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	begin, end := text[:most/2], text[len(text)-most/4:]
	return fmt.Sprintf("%s…(%d bytes)…%s", strings.ToValidUTF8(begin, ""), len(text)-len(begin)-len(end), strings.ToValidUTF8(end, ""))
}
