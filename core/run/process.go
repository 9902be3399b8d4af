package run

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"pgrlab/core/run/files"
)

// Process identifies a process among those of all machines and times.
type Process struct {
	Host  string `json:"host"`
	PID   int    `json:"pid"`
	Boot  string `json:"boot"`            // boot id of the machine: a process id means nothing after a reboot
	Space string `json:"space,omitempty"` // namespace of process ids: containers have their own
	Start uint64 `json:"start,omitempty"` // start of the process, in ticks since the boot: ids are reused
}

// Self returns the identity of this process.
func Self() Process {
	host, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	start, _ := startOf(os.Getpid())
	return Process{Host: host, PID: os.Getpid(), Boot: strings.TrimSpace(string(boot)), Space: space, Start: start}
}

// Signal sends a signal to the process. The error is os.ErrProcessDone if no process of this user,
// machine, boot and namespace is the one that p identifies.
func (p Process) Signal(s os.Signal) error {
	me := Self()
	if p.PID <= 1 || p.Host != me.Host || p.Boot != me.Boot || p.Space != me.Space {
		return os.ErrProcessDone
	}
	found, err := os.FindProcess(p.PID) // before the checks: on Linux it stays the same process from here on
	if err != nil {
		return os.ErrProcessDone
	}
	defer found.Release()
	if start, dead := startOf(p.PID); dead || start != p.Start {
		return os.ErrProcessDone
	}
	if info, err := os.Stat("/proc/" + strconv.Itoa(p.PID)); err == nil && owner(info) != os.Getuid() {
		return os.ErrProcessDone
	}
	return found.Signal(s)
}

// Foreign is the error that a file belongs to another user.
type Foreign struct {
	Path string
	UID  int
}

func (f *Foreign) Error() string {
	return fmt.Sprintf("%s belongs to another user (uid %d), who must not say what runs here", f.Path, f.UID)
}

// readOwn is Handle.ReadOwn.
func readOwn(root *files.Root, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	text, err := f.ReadAll(name, maxText)
	if uid := owner(info); err == nil && uid != os.Getuid() {
		err = &Foreign{filepath.Join(root.Path(), name), uid}
	}
	return text, err
}

// owner returns the user that a file belongs to; if the system does not say, the user of this process.
func owner(info fs.FileInfo) (uid int) {
	if s, known := info.Sys().(*syscall.Stat_t); known {
		return int(s.Uid)
	}
	return os.Getuid()
}
