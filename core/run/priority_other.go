//go:build !linux

package run

// lowerPriority does nothing where threads have no priority of their own.
func lowerPriority() {}
