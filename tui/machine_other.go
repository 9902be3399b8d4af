//go:build !unix

package tui

import "time"

// ProcessTime is not known here: −1.
func ProcessTime() time.Duration { return -1 }
