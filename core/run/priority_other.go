//go:build !linux

package run

// lowerPriority does nothing if threads have no priority of their own.
func lowerPriority() {}
