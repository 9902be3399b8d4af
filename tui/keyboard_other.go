//go:build !unix

package tui

import (
	"os"
	"time"
)

// canWait says whether HasInput can wait.
const canWait = false

// HasInput says whether there is something to read from a file; it cannot be known here.
func HasInput(*os.File, time.Duration) bool { return false }

// windowSize is the size of a terminal, in cells and in pixels; it is not known here.
func windowSize(*os.File) (columns, rows, w, h int) { return 0, 0, 0, 0 }
