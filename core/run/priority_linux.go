package run

import "syscall"

// lowerPriority lets the present thread work when others have nothing to do.
func lowerPriority() {
	syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), 10) // on Linux a thread has a priority of its own
}
