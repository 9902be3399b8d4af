package command

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pgrlab/core/lab"
	"pgrlab/presets"
)

// GPU is a GPU of this machine.
type GPU struct {
	Index      int    `json:"index"` // as nvidia-smi counts, after CUDA_VISIBLE_DEVICES
	Name       string `json:"name"`
	UUID       string `json:"uuid"`
	Capability string `json:"capability"` // "9.0"
	Memory     uint64 `json:"memory"`     // bytes
	Free       uint64 `json:"free"`       // bytes
	// What NVML knows; nil where it knows nothing.
	Compute     *float64 `json:"compute,omitempty"`     // share of time in which a kernel ran, 0 to 1
	Temperature *float64 `json:"temperature,omitempty"` // °C
	Power       *float64 `json:"power,omitempty"`       // W
	Others      *int     `json:"others,omitempty"`      // other processes that compute on it
}

// Device is its name for --device.
func (g GPU) Device() string { return "cuda:" + strconv.Itoa(g.Index) }

// describe says what it is and how much of it is free.
func (g GPU) describe() string {
	text := fmt.Sprintf("%s, %s, compute capability %s, %s of %s free", g.Name, g.UUID, g.Capability, size(int64(g.Free)), size(int64(g.Memory)))
	if g.Others != nil && *g.Others > 0 {
		text += fmt.Sprintf(", in use by %d", *g.Others)
	}
	return text
}

// GPUs is what was found of GPUs.
type GPUs struct {
	CUDA   string `json:"cuda,omitempty"`   // what the driver has: "12.4"
	Driver string `json:"driver,omitempty"` // its version, where it is known
	Least  string `json:"least_driver"`     // the first driver that can run the kernels
	NVML   string `json:"nvml,omitempty"`   // why it says nothing; "": it does
	Found  []GPU  `json:"devices"`
	Error  string `json:"error,omitempty"` // why there is none
}

// DeviceRequest asks for a device.
type DeviceRequest struct {
	Threads int  // workers of the CPU; 0: all that are allowed
	GPU     *GPU // nil: the CPU
	// Precision of a GPU's large products: fp32, tf32 or bf16.
	Precision string
	// Memory is how many bytes of a GPU may be used; 0: what is free.
	Memory int64
	Said   func(line string) // is told what takes long; may be nil
}

// precisions are the choices of --precision, the usual one first.
var precisions = []string{"tf32", "fp32", "bf16"}

// place is where a run computes.
type place struct {
	gpu       *GPU // nil: the CPU
	precision string
	said      string // how that came, for people; "": it was asked for
}

// deviceFlag checks --device as far as that can be done without looking for one.
func deviceFlag(name string) error {
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
	return presets.Unknown("device", name, []string{"cpu", "auto", "cuda"}, "pgrlab list devices")
}

// cutPrefix cuts the first of several prefixes, large or small letters.
func cutPrefix(text string, prefixes ...string) (string, bool) {
	for _, p := range prefixes {
		if len(text) > len(p) && strings.EqualFold(text[:len(p)], p) {
			return text[len(p):], true
		}
	}
	return text, false
}

// deviceName is what was asked for: by a flag, else by the configuration, which
// says auto if neither a preset nor an earlier run says more.
func (r *runFlags) deviceName(c *lab.Config) string {
	if r.changed("device") || r.device != "" && r.device != "auto" {
		return r.device
	}
	return cmp.Or(c.Device, "auto")
}

// settleDevice chooses where the run computes and writes it into the configuration:
// cpu or cuda, and the precision of the latter.
func (r *runFlags) settleDevice(d Deps, c *lab.Config) error {
	name := r.deviceName(c)
	if err := deviceFlag(name); err != nil {
		return err
	}
	precision := cmp.Or(r.precision, c.Precision, precisions[0])
	where, err := d.find(name, precision)
	if err != nil && r.resume != "" && !r.changed("device") {
		where, err = place{said: fmt.Sprintf("%v: goes on with the CPU", err)}, nil
	}
	if err != nil {
		return err
	}
	r.place = where
	c.Device, c.Precision = "cpu", ""
	switch {
	case where.gpu != nil:
		c.Device, c.Precision = "cuda", precision
	case name == "cpu" && (r.precision != "" || r.gpuMem != ""):
		return fmt.Errorf("--precision and --gpu-mem are for GPUs: without --device cpu")
	}
	return nil
}

// find finds the device of that name and tries it. auto is the CPU where there is no
// GPU for us, or one that does not do what the CPU does, and says so; one that was
// asked for is taken all the same.
func (d Deps) find(name, precision string) (place, error) {
	where, err := d.choose(name, precision)
	if err != nil || where.gpu == nil || d.CheckGPU == nil {
		return where, err
	}
	wrong := d.CheckGPU(*where.gpu, precision)
	if wrong == nil {
		return where, nil
	}
	text := fmt.Sprintf("%s does not do what the CPU does: %s", where.gpu.Device(), line(wrong))
	if name == "auto" {
		return place{said: fmt.Sprintf("computes on the CPU: %s: choose it by --device %s all the same", text, where.gpu.Device())}, nil
	}
	where.said = fmt.Sprintf("%s: beware: %s", where.said, text)
	return where, nil
}

// choose finds the device of that name.
func (d Deps) choose(name, precision string) (place, error) {
	if name == "cpu" {
		return place{}, nil
	}
	if !slices.Contains(precisions, precision) {
		return place{}, presets.Unknown("precision", precision, precisions, strings.Join(precisions, ", "))
	}
	if d.ChooseGPU == nil && name == "auto" {
		return place{}, nil
	}
	if d.ChooseGPU == nil {
		return place{}, fmt.Errorf("device %s: there are no GPUs here: use --device cpu", name)
	}
	gpu, why, err := d.ChooseGPU(name)
	if err != nil && name == "auto" {
		return place{said: fmt.Sprintf("computes on the CPU: %s", firstPart(err))}, nil
	}
	if err != nil {
		return place{}, err
	}
	return place{gpu: &gpu, precision: precision, said: fmt.Sprintf("computes on %s, %s (%s), %s: %s", gpu.Device(), gpu.Name, gpu.UUID, precision, why)}, nil
}

// firstPart is what was wrong, without what to do: that is what happens anyway.
func firstPart(err error) string {
	text := line(err)
	if i := strings.LastIndex(text, ": "); i > 0 {
		return text[:i]
	}
	return text
}

// request asks for the device of a place.
func (p place) request(threads int, memory int64, said func(string)) DeviceRequest {
	return DeviceRequest{Threads: threads, GPU: p.gpu, Precision: p.precision, Memory: memory, Said: said}
}

// examineGPU looks for GPUs, and tries the kernels on the one that auto takes.
func examineGPU(d Deps) gpuReport {
	if d.GPUs == nil {
		return gpuReport{Note: "not part of this build: training runs on the CPU"}
	}
	r := gpuReport{GPUs: d.GPUs()}
	r.Supported = r.Error == ""
	if !r.Supported {
		r.Note = "none: training runs on the CPU: " + r.Error
		return r
	}
	where, err := d.find("auto", precisions[0])
	switch {
	case err != nil:
		r.Note = line(err)
		return r
	case where.gpu == nil:
		r.Note = "--device auto " + where.said
		return r
	}
	r.Note = "--device auto " + where.said
	if r.Kernels, err = d.TryGPU(*where.gpu); err != nil {
		r.Failed = line(err)
	}
	return r
}

func (r gpuReport) write(row func(name, format string, args ...any)) {
	row("gpu", "%s", r.Note)
	if !r.Supported {
		row("", "least driver %s", r.Least)
		return
	}
	driver := "CUDA " + r.CUDA
	if r.Driver != "" {
		driver = r.Driver + ", " + driver
	}
	row("", "driver %s; at least %s is needed", driver, r.Least)
	for _, g := range r.Found {
		row("", "%s  %s%s", g.Device(), g.describe(), g.load())
	}
	switch {
	case r.Failed != "":
		row("", "kernels cannot be used: %s", r.Failed)
	case r.Kernels != "":
		row("", "kernels: %s", r.Kernels)
	}
	if r.NVML != "" {
		row("", "%s", r.NVML)
	}
}

// load is what NVML knows of a GPU.
func (g GPU) load() string {
	text := ""
	for _, part := range []struct {
		value  *float64
		factor float64
		unit   string
	}{{g.Compute, 100, "% busy"}, {g.Temperature, 1, " °C"}, {g.Power, 1, " W"}} {
		if part.value != nil {
			text += fmt.Sprintf(", %.0f%s", *part.value*part.factor, part.unit)
		}
	}
	return text
}
