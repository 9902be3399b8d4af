//go:build !linux

package pty

import (
	"errors"
	"os"
)

// errMissing is why tests that need a terminal are skipped.
var errMissing = errors.New("open a pseudo terminal: this package knows how on Linux only")

// Open fails: this system is not supported.
func Open(columns, rows int) (person, program *os.File, err error) {
	return nil, nil, errMissing
}

// Resize fails: this system is not supported.
func Resize(program *os.File, columns, rows int) error { return errMissing }
