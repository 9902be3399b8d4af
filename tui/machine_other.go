//go:build !unix

package tui

import "time"

// ProcessTime is −1: it is unknown on this system.
func ProcessTime() time.Duration { return -1 }
