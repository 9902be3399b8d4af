package run

import "syscall"

// lowerPriority gives the present thread a low priority.
func lowerPriority() {
	syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), 10) // on Linux each thread has its own priority
}
