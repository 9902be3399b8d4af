//go:build !unix

package tui

import (
	"os"
	"time"
)

// hasInput says whether there is something to read from a file; it cannot be known here.
func hasInput(*os.File, time.Duration) bool { return false }
