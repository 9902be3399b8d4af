package system

import (
	"bytes"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"time"

	"pgrlab/core/cost"
)

// machineEvery is the time between two readings of the machine.
const machineEvery = 2 * time.Second

// Machine is what the system pane shows: the use of processors and memory by this process and by
// all. Unknown values are negative.
type Machine struct {
	At          time.Time
	own, all    time.Duration // processor time so far
	idle        time.Duration
	Cores, Busy float64 // processors used: by this process; share of all that are busy
	Resident    float64 // resident bytes of this process
	Heap        float64 // the part in the Go heap
	Total, Free float64 // bytes of the machine's memory
	CPUs        int
	BusyPast    []float64
}

// look takes a new reading if the last one is old enough and the pane is shown.
func (k *Machine) look(now time.Time, seen bool) bool {
	if !seen || now.Sub(k.At) < machineEvery {
		return false
	}
	own, all, idle := cost.ProcessTime(), time.Duration(0), time.Duration(0)
	all, idle = machineTime()
	if passed := now.Sub(k.At).Seconds(); !k.At.IsZero() && passed > 0 {
		k.Cores, k.Busy = -1, -1
		if own >= 0 {
			k.Cores = (own - k.own).Seconds() / passed
		}
		if d := (all - k.all).Seconds(); d > 0 {
			k.Busy = 1 - (idle-k.idle).Seconds()/d
		}
		k.BusyPast = append(k.BusyPast, k.Cores)
		k.BusyPast = k.BusyPast[max(0, len(k.BusyPast)-120):]
	}
	k.At, k.own, k.all, k.idle = now, own, all, idle
	k.Resident = residentBytes()
	k.Total, k.Free = memoryBytes()
	k.CPUs = runtime.NumCPU()
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	k.Heap = float64(s[0].Value.Uint64())
	return true
}

// machineTime is the processor time used by all processes, and the idle time, since the machine
// started; zero if unknown.
func machineTime() (all, idle time.Duration) {
	doc, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0
	}
	line, _, _ := bytes.Cut(doc, []byte("\n"))
	for i, f := range bytes.Fields(line) {
		v, err := strconv.ParseFloat(string(f), 64)
		if err != nil {
			continue
		}
		d := time.Duration(v * 10 * float64(time.Millisecond)) // the unit is hundredths of a second
		all += d
		if i == 4 || i == 5 { // idle, and waiting for disks
			idle += d
		}
	}
	return all, idle
}

// TimeOf is the processor time that a process of this machine has used so far; −1 if unknown.
func TimeOf(pid int) time.Duration {
	doc, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return -1
	}
	fields := bytes.Fields(doc[bytes.LastIndexByte(doc, ')')+1:]) // the name before it may contain spaces
	if len(fields) < 13 {
		return -1
	}
	used := time.Duration(0)
	for _, f := range fields[11:13] { // by the program, and by the kernel for it
		ticks, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return -1
		}
		used += time.Duration(ticks) * 10 * time.Millisecond // the unit is hundredths of a second
	}
	return used
}

// Resident is the memory of this process in bytes; −1 if unknown.
func Resident() float64 { return residentBytes() }

// FreeMemory is the memory of the machine that is available to programs, in bytes; −1 if unknown.
func FreeMemory() float64 {
	_, free := memoryBytes()
	return free
}

// residentBytes is the memory of this process; −1 if unknown.
func residentBytes() float64 {
	doc, err := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(doc)
	if err != nil || len(fields) < 2 {
		return -1
	}
	pages, err := strconv.ParseFloat(string(fields[1]), 64)
	if err != nil {
		return -1
	}
	return pages * float64(os.Getpagesize())
}

// memoryBytes is the memory of the machine and the part that is free; −1 if unknown.
func memoryBytes() (total, free float64) {
	doc, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return -1, -1
	}
	read := func(name string) float64 {
		for _, line := range bytes.Split(doc, []byte("\n")) {
			if fields := bytes.Fields(line); len(fields) > 1 && string(fields[0]) == name {
				if v, err := strconv.ParseFloat(string(fields[1]), 64); err == nil {
					return v * 1024
				}
			}
		}
		return -1
	}
	return read("MemTotal:"), read("MemAvailable:")
}
