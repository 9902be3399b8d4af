package remote

import (
	"fmt"
	"os"
	"strings"
)

// besideSocket is the file beside a socket that names the run folder of the lab, for when the lab
// does not answer.
func besideSocket(socket string) string { return strings.TrimSuffix(socket, ".sock") + ".run" }

// folderOf is the run folder of the lab behind a socket; "": unknown.
func folderOf(socket string) string {
	text, err := os.ReadFile(besideSocket(socket))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(text), "\n")
}

// unlist removes a socket and the file beside it.
func unlist(socket string) {
	os.Remove(socket)
	os.Remove(besideSocket(socket))
}

// silent is the status of a lab that does not answer, as far as it is known.
func silent(socket string) *Status {
	s := &Status{PID: pidOf(socket), Dir: folderOf(socket), State: "no answer"}
	if stopped(s.PID) {
		s.State = Stopped
	}
	return s
}

// Stopped is the State of a lab whose process is stopped, for instance by ctrl-z.
const Stopped = "stopped"

// HowToContinue says how to continue a stopped process.
func HowToContinue(pid int) string {
	return fmt.Sprintf("stopped, as by ctrl-z: fg, or kill -CONT %d", pid)
}

// stopped says whether a process is stopped by a signal; false if unknown.
func stopped(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	name := strings.LastIndexByte(string(text), ')')
	return strings.HasPrefix(string(text[name+1:]), " T")
}
