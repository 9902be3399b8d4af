//go:build !linux

package lab

// lowerPriority does nothing where threads have no priority of their own.
func lowerPriority() {}
