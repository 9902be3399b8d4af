package run

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// holder is a process that writes a run folder.
type holder struct {
	Host  string    `json:"host"`
	PID   int       `json:"pid"`
	Boot  string    `json:"boot"`            // of the machine: a process id means nothing after a reboot
	Space string    `json:"space,omitempty"` // of process ids: containers have their own
	Start uint64    `json:"start,omitempty"` // of the process, in ticks since the boot: ids are used again
	Token string    `json:"token"`           // of this lease and no other
	Beats uint64    `json:"beats"`           // grows for as long as the process lives
	Beat  time.Time `json:"beat"`
}

// self is this process.
func self() holder {
	host, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	start, _ := startOf(os.Getpid())
	return holder{Host: host, PID: os.Getpid(), Boot: strings.TrimSpace(string(boot)), Space: space, Start: start}
}

// here says whether the process ids of h are those of me: on the same machine, since it
// was started, in the same container. Older versions do not say in which one.
func (h holder) here(me holder) bool {
	return h.Host == me.Host && h.Boot == me.Boot && h.Boot != "" && (h.Space == me.Space || h.Space == "")
}

// alive says whether a process of this machine is still there.
func alive(h holder) bool {
	if syscall.Kill(h.PID, 0) == syscall.ESRCH {
		return false
	}
	start, dead := startOf(h.PID)
	return !dead && (start == 0 || h.Start == 0 || start == h.Start)
}

// startOf is when a process was started, 0 where that is not known, and whether it has
// ended and only waits for its parent to hear of it.
func startOf(pid int) (ticks uint64, dead bool) {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // a name may hold anything
	if len(fields) < 20 {
		return 0, false
	}
	ticks, _ = strconv.ParseUint(string(fields[19]), 10, 64)
	return ticks, fields[0][0] == 'Z' || fields[0][0] == 'X'
}

// clock is what a lease knows of time.
type clock struct {
	wall      func() time.Time
	monotonic func() time.Duration
	sleep     func(time.Duration)
	every     func(time.Duration) (ticks <-chan time.Time, stop func())
}

func systemClock() clock {
	begin := time.Now()
	return clock{
		wall: time.Now, monotonic: func() time.Duration { return time.Since(begin) }, sleep: time.Sleep,
		every: func(d time.Duration) (<-chan time.Time, func()) {
			t := time.NewTicker(d)
			return t.C, t.Stop
		},
	}
}
