package outside

import (
	"os/exec"

	"golang.org/x/sys/unix"
)

// awaitEnd waits until a child has ended, and leaves it its number.
func awaitEnd(c *exec.Cmd) {
	for unix.Waitid(unix.P_PID, c.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}
