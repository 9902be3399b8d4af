//go:build unix

package config

import "syscall"

// addressSpace is what ulimit -v allows; 0: all.
func addressSpace() float64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil || limit.Cur >= 1<<60 {
		return 0
	}
	return float64(limit.Cur)
}
