//go:build !unix

package tui

import (
	"os"
	"time"
)

// canWait says whether HasInput can wait.
const canWait = false

// HasInput says whether there is something to read from a file; on this system that is unknown.
func HasInput(*os.File, time.Duration) bool { return false }

// windowSize is the size of a terminal, in cells and in pixels; on this system that is unknown.
func windowSize(*os.File) (columns, rows, w, h int) { return 0, 0, 0, 0 }
