package tui

import (
	"bytes"
	"os"
	"pgrlab/core/event"
	"runtime"
	"runtime/metrics"
	"strconv"
	"time"
)

// machineEvery is the time between two looks at the machine.
const machineEvery = 2 * time.Second

// machine is what the system pane shows: shares of processors and memory, of this
// process and of all. What cannot be found out is negative.
type machine struct {
	at          time.Time
	own, all    time.Duration // processor time so far
	idle        time.Duration
	cores, busy float64 // processors used: by this process; share of all that are busy
	resident    float64 // bytes of this process
	heap        float64 // of them, of the Go heap
	total, free float64 // bytes of the machine
	cpus        int
	busyPast    []float64
}

// look takes new numbers when the old ones are old enough and anybody sees them.
func (k *machine) look(now time.Time, seen bool) bool {
	if !seen || now.Sub(k.at) < machineEvery {
		return false
	}
	own, all, idle := ProcessTime(), time.Duration(0), time.Duration(0)
	all, idle = machineTime()
	if passed := now.Sub(k.at).Seconds(); !k.at.IsZero() && passed > 0 {
		k.cores, k.busy = -1, -1
		if own >= 0 {
			k.cores = (own - k.own).Seconds() / passed
		}
		if d := (all - k.all).Seconds(); d > 0 {
			k.busy = 1 - (idle-k.idle).Seconds()/d
		}
		k.busyPast = append(k.busyPast, k.cores)
		k.busyPast = k.busyPast[max(0, len(k.busyPast)-120):]
	}
	k.at, k.own, k.all, k.idle = now, own, all, idle
	k.resident = residentBytes()
	k.total, k.free = memoryBytes()
	k.cpus = runtime.NumCPU()
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	k.heap = float64(s[0].Value.Uint64())
	return true
}

// machineTime is the processor time of all processes and of none, since the start
// of the machine; zero where it is not known.
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
		d := time.Duration(v * 10 * float64(time.Millisecond)) // hundredths of a second
		all += d
		if i == 4 || i == 5 { // idle, and waiting for disks
			idle += d
		}
	}
	return all, idle
}

// Resident is the memory of this process in bytes; −1 where it is not known.
func Resident() float64 { return residentBytes() }

// FreeMemory is the memory of the machine that programs can have, in bytes; −1 where
// it is not known.
func FreeMemory() float64 {
	_, free := memoryBytes()
	return free
}

// residentBytes is the memory of this process; −1 where it is not known.
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

// memoryBytes is the memory of the machine and what of it is free; −1 where it is
// not known.
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

// systemPane is what this process and the machine do.
type systemPane struct {
	*runView
	machine machine
	link    *link
}

// ID names the pane.
func (m *systemPane) ID() paneID { return paneSystem }

// Tab is its name on the tab bar.
func (m *systemPane) Tab() string { return string(paneSystem) }

// Title is what its border says.
func (m *systemPane) Title(w int) (title, note string) { return "SYSTEM", "" }

// Keys work while it is in focus.
func (m *systemPane) Keys() []binding { return nil }

// DependsOn are the topics that it shows.
func (m *systemPane) DependsOn() []topic { return []topic{} }

// Body is what this process and the machine do.
func (m *systemPane) Body(w, h int) []string {
	t, k := m.theme, &m.machine
	if k.at.IsZero() || len(k.busyPast) == 0 {
		return m.waiting("measuring", w, h)
	}
	label := func(s string) string { return t.dim.on(t.fit(s, 7)) }
	cpu := label("CPU") + t.bold.on(strconv.FormatFloat(k.cores, 'f', 2, 64)) + t.dim.on(" of "+strconv.Itoa(k.cpus)+" cores")
	if k.busy >= 0 {
		cpu += t.dim.on("  machine ") + percent(k.busy)
	}
	if room := w - width(cpu) - 2; room >= 6 {
		cpu += "  " + t.accent.on(t.sparklineIn(k.busyPast[max(0, len(k.busyPast)-min(room, 24)):], 0, float64(k.cpus)))
	}
	memory := label("memory") + t.bold.on(bytesText(k.resident)) + t.dim.on("  Go heap ") + bytesText(k.heap)
	if k.total > 0 {
		memory = longest([]string{memory, memory + t.dim.on("  machine ") + bytesText(k.total-k.free) + t.dim.on(" of ") + bytesText(k.total)}, w)
	}
	lines := []string{cpu, memory, label("device") + m.device()}
	if m.about.GPU != nil {
		if g := m.about.GPU(); g != nil {
			lines = append(lines, label("GPU")+m.gpuUse(g, w-7))
		}
	}
	if m.link != nil {
		m.link.mu.Lock()
		sent, took := m.link.bytes, m.link.took
		m.link.mu.Unlock()
		lines = append(lines, label("screen")+bytesText(float64(sent))+t.dim.on(" written, ")+strconv.FormatFloat(took.Seconds()*1000, 'f', 1, 64)+t.dim.on(" ms a frame"))
	}
	return lines
}

// gpuUse is what a GPU does, as much as there is room for.
func (m *systemPane) gpuUse(g *GPU, w int) string {
	t := m.theme
	text := t.dim.on("busy ")
	if g.Busy >= 0 {
		text += t.bold.on(percent(g.Busy))
	} else {
		text += "-"
	}
	all := []string{text}
	add := func(known float64, part string) {
		if known >= 0 {
			text += part
			all = append(all, text)
		}
	}
	add(g.Used, t.dim.on("  memory ")+bytesText(g.Used)+t.dim.on(" of ")+bytesText(g.Total))
	add(g.Temperature, "  "+strconv.FormatFloat(g.Temperature, 'f', 0, 64)+t.dim.on(" °C"))
	add(g.Power, "  "+strconv.FormatFloat(g.Power, 'f', 0, 64)+t.dim.on(" W"))
	return longest(all, w)
}

func percent(x float64) string { return strconv.Itoa(int(100*x+0.5)) + "%" }

// bytesText writes a number of bytes: 950 B, 12.5 MB.
func bytesText(v float64) string {
	switch {
	case v < 0:
		return "-"
	case v >= 1e9:
		return strconv.FormatFloat(v/1e9, 'f', 1, 64) + " GB"
	case v >= 1e6:
		return strconv.FormatFloat(v/1e6, 'f', 0, 64) + " MB"
	case v >= 1e3:
		return strconv.FormatFloat(v/1e3, 'f', 0, 64) + " KB"
	default:
		return strconv.FormatFloat(v, 'f', 0, 64) + " B"
	}
}

// Poll takes new numbers while the pane is shown. While a run stands still it takes none:
// such a screen writes nothing.
func (m *systemPane) Poll(visible bool) {
	moving := m.snap != nil && (m.snap.State == event.Running || m.snap.State == event.Starting)
	if m.machine.look(m.now(), moving && visible) {
		m.touchPane(paneSystem)
		m.changed()
	}
}
