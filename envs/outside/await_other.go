//go:build !linux

package outside

import "os/exec"

// awaitEnd waits until a child has ended. Its number is free from then on, for the instant until its group is signalled.
func awaitEnd(c *exec.Cmd) { c.Wait() }
