//go:build !unix

package cost

import "time"

// ProcessTime is −1: it is unknown on this system.
func ProcessTime() time.Duration { return -1 }
