package run

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// holder is a process that writes a run folder.
type holder struct {
	Process
	Token string    `json:"token"` // unique to this lease
	Beats uint64    `json:"beats"` // grows as long as the process lives
	Beat  time.Time `json:"beat"`
}

// here says whether h and me share their process ids: the same machine, the same boot, the
// same container.
func (h holder) here(me holder) bool {
	return h.Host == me.Host && h.Boot == me.Boot && h.Boot != "" && h.Space == me.Space
}

// alive says whether a process of this machine still runs.
func alive(h holder) bool {
	if syscall.Kill(h.PID, 0) == syscall.ESRCH {
		return false
	}
	start, dead := startOf(h.PID)
	return !dead && (start == 0 || h.Start == 0 || start == h.Start)
}

// startOf returns when a process was started, 0 if that is not known, and whether it is a
// zombie: ended, but not yet waited for by its parent.
func startOf(pid int) (ticks uint64, dead bool) {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // a name may hold anything
	if len(fields) < 20 {
		return 0, false
	}
	ticks, _ = strconv.ParseUint(string(fields[19]), 10, 64)
	return ticks, fields[0][0] == 'Z' || fields[0][0] == 'X'
}

// clock is the source of time of a lease.
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
