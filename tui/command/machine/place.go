package machine

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"pgrlab/presets"
	"pgrlab/tui/command/cli"
)

// Precisions are the choices of --precision, the usual one first.
var Precisions = []string{presets.UsualPrecision, "fp32", "bf16"}

// Place is where a run computes.
type Place struct {
	GPU       *cli.GPU // nil: the CPU
	Precision string
	Said      string // how it was chosen, for people; "": it was asked for
}

// DeviceFlag checks --device as far as is possible without looking for a device.
func DeviceFlag(name string) error {
	_, uuid := cutPrefix(name, "GPU-", "MIG-")
	index, numbered := strings.CutPrefix(name, "cuda:")
	switch {
	case name == "cpu", name == "auto", name == "cuda", uuid:
		return nil
	case numbered:
		if i, err := strconv.Atoi(index); err != nil || i < 0 {
			return fmt.Errorf("device %s: want cuda:0, cuda:1, …: see pgrlab list devices", name)
		}
		return nil
	}
	if strings.EqualFold(name, "gpu") { // its nearest name would be that of the CPU
		return fmt.Errorf("unknown device %q: did you mean \"cuda\"? (pgrlab list devices)", name)
	}
	return presets.Unknown("device", name, []string{"cpu", "auto", "cuda"}, "pgrlab list devices")
}

// cutPrefix cuts off the first matching prefix, in upper or lower case.
func cutPrefix(text string, prefixes ...string) (string, bool) {
	for _, p := range prefixes {
		if len(text) > len(p) && strings.EqualFold(text[:len(p)], p) {
			return text[len(p):], true
		}
	}
	return text, false
}

// FindDevice finds the device of that name and tests it, and says what takes long. auto means the
// CPU if there is no GPU for us, or if the GPU does not compute the same as the CPU; the place then
// says so. A GPU that was asked for by name is used all the same.
func FindDevice(d cli.Deps, name, precision string, said func(line string)) (Place, error) {
	where, err := chooseDevice(d, name, precision, said)
	if err != nil || where.GPU == nil || d.CheckGPU == nil {
		return where, err
	}
	wrong := d.CheckGPU(*where.GPU, precision, said)
	if wrong == nil {
		return where, nil
	}
	finding := "does not do what the CPU does"
	if errors.Is(wrong, os.ErrDeadlineExceeded) {
		finding = "could not be checked"
	}
	text := fmt.Sprintf("%s %s: %s", where.GPU.Device(), finding, cli.Line(wrong))
	if name == "auto" {
		return Place{Said: fmt.Sprintf("computes on the CPU: %s: choose it by --device %s all the same", text, where.GPU.Device())}, nil
	}
	where.Said = fmt.Sprintf("%s: beware: %s", where.Said, text)
	return where, nil
}

// awaitDriver says so if a driver takes a while to start, until the returned function is called; after
// that it says nothing.
func awaitDriver(said func(line string)) (stop func()) {
	done := make(chan struct{})
	t := time.AfterFunc(3*time.Second, func() {
		defer close(done)
		said("waits for the CUDA driver to start its GPUs, which takes seconds for each unless nvidia-persistenced runs")
	})
	return func() {
		if !t.Stop() {
			<-done
		}
	}
}

// chooseDevice finds the device of that name, and says what takes long.
func chooseDevice(d cli.Deps, name, precision string, said func(line string)) (Place, error) {
	if name == "cpu" {
		return Place{}, nil
	}
	if !slices.Contains(Precisions, precision) {
		return Place{}, presets.NoChoice("precision", precision, Precisions...)
	}
	if d.ChooseGPU == nil && name == "auto" {
		return Place{}, nil
	}
	if d.ChooseGPU == nil {
		return Place{}, fmt.Errorf("device %s: there are no GPUs here: use --device cpu", name)
	}
	defer awaitDriver(said)()
	gpu, why, err := d.ChooseGPU(name)
	if err != nil && name == "auto" {
		return Place{Said: fmt.Sprintf("computes on the CPU: %s", firstPart(err))}, nil
	}
	if err != nil {
		return Place{}, err
	}
	return Place{GPU: &gpu, Precision: precision, Said: fmt.Sprintf("computes on %s, %s (%s), %s: %s", gpu.Device(), gpu.Name, gpu.UUID, precision, why)}, nil
}

// firstPart is the part of an error that says what was wrong, without the advice: that is followed
// anyway.
func firstPart(err error) string {
	text := cli.Line(err)
	if i := strings.LastIndex(text, ": "); i > 0 {
		return text[:i]
	}
	return text
}

// Request asks for the device of a place.
func (p Place) Request(threads int, memory int64, said func(string)) cli.DeviceRequest {
	return cli.DeviceRequest{Threads: threads, GPU: p.GPU, Precision: p.Precision, Memory: memory, Said: said}
}
