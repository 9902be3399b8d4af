package cli

import (
	"os"
	"os/exec"
	"syscall"
)

// runningProgram is this program as the kernel holds it, even if its file has been replaced or
// removed since the start.
const runningProgram = "/proc/self/exe"

// Self is a command line of this program, for a process of its own.
func Self(args ...string) *exec.Cmd {
	path, err := os.Executable()
	if now, e := os.Stat(runningProgram); e == nil {
		if file, e := os.Stat(path); err != nil || e != nil || !os.SameFile(file, now) {
			path, err = runningProgram, nil
		}
	}
	if err != nil {
		path = os.Args[0]
	}
	c := exec.Command(path, args...)
	c.Args[0] = os.Args[0]
	return c
}

// StartNice starts a process with a lower priority, by a nice value, in a session of its own:
// neither ctrl+c on the terminal nor the terminal's end reaches it.
func StartNice(c *exec.Cmd, nice int) error {
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		return err
	}
	// This applies to all its threads: on Linux each has a nice value. It helps, but may be
	// forbidden.
	_ = syscall.Setpriority(syscall.PRIO_PGRP, c.Process.Pid, nice)
	return nil
}
