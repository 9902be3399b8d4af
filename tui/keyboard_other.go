//go:build !unix

package tui

import (
	"os"
	"time"
)

// canWait says whether hasInput can wait.
const canWait = false

// hasInput says whether there is something to read from a file; it cannot be known here.
func hasInput(*os.File, time.Duration) bool { return false }

// windowSize is the size of a terminal, in cells and in pixels; it is not known here.
func windowSize(*os.File) (columns, rows, w, h int) { return 0, 0, 0, 0 }
