package driver

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Usage is what a device is doing, according to NVML.
type Usage struct {
	// Compute is the fraction of the last sample period in which a kernel ran, 0 to 1; negative if
	// unknown.
	Compute float64
	// Used and Total are the memory in bytes, over all processes; Total is 0 if they are unknown.
	Used, Total uint64
	Temperature float64 // °C; negative if unknown
	Power       float64 // W; negative if unknown
	// Processes are those with a compute context on the device, including this one; nil if unknown.
	Processes []Process
}

// Process is a process that computes on a device.
type Process struct {
	PID    int
	Memory uint64 // bytes of the device; 0 if unknown
}

// Foreign returns the processes other than this one.
func (u Usage) Foreign() []Process {
	return slices.DeleteFunc(slices.Clone(u.Processes), func(p Process) bool { return p.PID == os.Getpid() })
}

// Watcher reports what devices are doing.
type Watcher interface {
	// Usage returns the usage of the device with that UUID.
	Usage(uuid string) (Usage, error)
}

func isUUID(name string) bool {
	return len(name) > 4 && (strings.EqualFold(name[:4], "GPU-") || strings.EqualFold(name[:4], "MIG-"))
}

// Choice is the chosen device, with the reason for people: "most free memory (80 GiB) of 4 GPUs".
type Choice struct {
	Device Info
	Why    string
}

// NoneFree says why auto chose no device.
type NoneFree struct{ Reasons []string }

func (e *NoneFree) Error() string {
	return "no GPU is free: " + strings.Join(e.Reasons, "; ") + ": wait, or name one with --device cuda:INDEX"
}

// Choose finds the device that name asks for among a driver's devices. name is auto, cuda, cuda:1,
// or the beginning of a UUID as nvidia-smi -L shows it. auto chooses the device with the most free
// memory on which no other process computes; if there is none, the error is a *NoneFree. cuda
// chooses the same device, but if all are in use, it chooses the one with the most free memory.
// least is the lowest acceptable compute capability (70 for 7.0). w may be nil; then other
// processes are not visible.
func Choose(devices []Info, name string, least int, w Watcher) (Choice, error) {
	if len(devices) == 0 {
		return Choice{}, &Unavailable{Reason: "no GPU was found", Advice: "use --device cpu"}
	}
	if index, given := strings.CutPrefix(name, "cuda:"); given {
		i, err := strconv.Atoi(index)
		if err != nil || i < 0 || i >= len(devices) {
			return Choice{}, fmt.Errorf("device %s: there is no such GPU: %s%s (pgrlab list devices)", name, span(len(devices)), underVisible())
		}
		return asked(devices[i], least)
	}
	if isUUID(name) {
		i, err := byUUID(devices, name)
		if err != nil {
			return Choice{}, fmt.Errorf("device %s: %w%s", name, err, underVisible())
		}
		return asked(devices[i], least)
	}
	if name != "auto" && name != "cuda" {
		return Choice{}, fmt.Errorf("device %s: want auto, cuda, cuda:INDEX or GPU-UUID (pgrlab list devices)", name)
	}
	return freest(devices, name, least, w)
}

// asked returns a device that was requested by name.
func asked(d Info, least int) (Choice, error) {
	if why := tooOld(d, least); why != "" {
		return Choice{}, fmt.Errorf("device cuda:%d: %s: choose another one or use --device cpu", d.Index, why)
	}
	return Choice{Device: d, Why: "as asked"}, nil
}

func tooOld(d Info, least int) string {
	if 10*d.Capability[0]+d.Capability[1] >= least {
		return ""
	}
	return fmt.Sprintf("%s has compute capability %d.%d, and at least %d.%d is needed", d.Name, d.Capability[0], d.Capability[1], least/10, least%10)
}

// freest chooses a device for auto and cuda.
func freest(devices []Info, name string, least int, w Watcher) (Choice, error) {
	order := slices.Clone(devices)
	slices.SortStableFunc(order, func(a, b Info) int { return cmp.Compare(b.Free, a.Free) })
	none := &NoneFree{}
	var inUse *Info
	for i, d := range order {
		if why := tooOld(d, least); why != "" {
			none.Reasons = append(none.Reasons, fmt.Sprintf("cuda:%d: %s", d.Index, why))
			continue
		}
		why, foreign := others(d, w)
		if !foreign {
			return Choice{Device: d, Why: reason(d, len(devices), why)}, nil
		}
		none.Reasons = append(none.Reasons, fmt.Sprintf("cuda:%d: %s", d.Index, why))
		if inUse == nil {
			inUse = &order[i]
		}
	}
	if name == "auto" || inUse == nil {
		return Choice{}, none
	}
	why, _ := others(*inUse, w)
	return Choice{Device: *inUse, Why: reason(*inUse, len(devices), why)}, nil
}

// others describes the other processes that compute on a device, and says whether there are any as
// far as is known.
func others(d Info, w Watcher) (text string, foreign bool) {
	if w == nil {
		return "", false
	}
	u, err := w.Usage(d.UUID)
	if err != nil || u.Processes == nil {
		return "", false
	}
	all := u.Foreign()
	if len(all) == 0 {
		return "", false
	}
	var pids []string
	for _, p := range all {
		text := strconv.Itoa(p.PID)
		if p.Memory > 0 {
			text += " with " + Bytes(p.Memory)
		}
		pids = append(pids, text)
	}
	const shown = 3
	if n := len(pids) - shown; n > 0 {
		pids = append(pids[:shown], fmt.Sprintf("%d more", n))
	}
	noun := "process"
	if len(all) > 1 {
		noun = "processes"
	}
	return fmt.Sprintf("%s %s computes on it", noun, strings.Join(pids, ", ")), true
}

func reason(d Info, n int, inUse string) string {
	text := fmt.Sprintf("%s free", Bytes(d.Free))
	if n > 1 {
		text += fmt.Sprintf(", the most of %d GPUs", n)
	}
	if inUse != "" {
		text += "; " + inUse
	}
	return text
}

// underVisible returns a reminder of a variable that hides devices.
func underVisible() string {
	if list, set := os.LookupEnv("CUDA_VISIBLE_DEVICES"); set {
		return fmt.Sprintf(" (under CUDA_VISIBLE_DEVICES=%s)", list)
	}
	return ""
}

// byUUID finds the one device whose UUID begins with begin, ignoring case.
func byUUID(all []Info, begin string) (int, error) {
	found := -1
	for i, d := range all {
		if len(d.UUID) >= len(begin) && strings.EqualFold(d.UUID[:len(begin)], begin) {
			if found >= 0 {
				return 0, fmt.Errorf("the UUIDs of several GPUs begin with %s: give more of it", begin)
			}
			found = i
		}
	}
	if found < 0 {
		return 0, fmt.Errorf("no GPU has a UUID that begins with %s (pgrlab list devices)", begin)
	}
	return found, nil
}

// span describes the existing indices.
func span(n int) string {
	switch n {
	case 0:
		return "no GPU was found"
	case 1:
		return "the only one is 0"
	}
	return fmt.Sprintf("they are 0 to %d", n-1)
}
