package program

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"pgrlab/core/device/cuda"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/device/cuda/kernel"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/pane"
)

// gpus are the GPUs of this machine. Nothing is opened before the first question, and then first in
// a process of its own.
var gpus = sync.OnceValue(func() *driver.Machine { return openGPUs(probeGPUs) })

// openGPUs prepares for questions about this machine's GPUs.
func openGPUs(probe func() error) *driver.Machine {
	o := driver.NativeOptions{Probe: probe}
	if dir, err := os.UserCacheDir(); err == nil { // otherwise the driver uses its own folder
		o.Cache = filepath.Join(dir, "pgrlab", "cuda")
	}
	return driver.NewMachine(o, cuda.Least)
}

// gpu is a GPU as the commands see a device: its work has no threads.
type gpu struct{ *cuda.Device }

func (gpu) Threads() int { return 0 }

// Holds says how much of the GPU's memory is in use.
func (g gpu) Holds() string { return g.Memory().String() }

func newGPU(r cli.DeviceRequest) (cli.Device, error) {
	precision, err := kernel.ParsePrecision(r.Precision)
	if err != nil {
		return nil, err
	}
	gpus().Tell(r.Said)
	open := func() (driver.Context, error) { return gpus().Open(r.GPU.UUID) }
	d, err := cuda.New(open, cuda.Options{Precision: precision, Memory: uint64(r.Memory), Without: r.Without, Said: r.Said})
	if err != nil {
		return nil, err
	}
	return gpu{d}, nil
}

// chooseGPU finds the GPU of that name.
func chooseGPU(name string) (cli.GPU, string, error) {
	c, err := gpus().Choose(name)
	return describe(driver.Seen{Info: c.Device}), c.Why, err
}

// describe is a GPU in the form that the commands use.
func describe(s driver.Seen) cli.GPU {
	g := cli.GPU{Index: s.Index, Name: s.Name, UUID: s.UUID, Capability: fmt.Sprintf("%d.%d", s.Capability[0], s.Capability[1]),
		Memory: s.Memory, Free: s.Free}
	if u := s.Usage; u != nil {
		known := func(v float64) *float64 {
			if v < 0 {
				return nil
			}
			return &v
		}
		g.Compute, g.Temperature, g.Power = known(u.Compute), known(u.Temperature), known(u.Power)
		if u.Processes != nil {
			n := len(u.Foreign())
			g.Others = &n
		}
	}
	return g
}

func findGPUs() cli.GPUs {
	r, err := gpus().Report()
	found := cli.GPUs{CUDA: r.CUDA, Driver: r.Driver, Least: minDriver(r.Devices)}
	if err != nil {
		found.Error = err.Error()
		return found
	}
	if r.Unwatched != nil {
		found.NVML = r.Unwatched.Error()
	}
	for _, d := range r.Devices {
		found.Found = append(found.Found, describe(d))
	}
	return found
}

// minDriver is the first driver that can run the kernels of all these cards, which are of other PTX on newer
// ones; without cards, of the oldest that is supported.
func minDriver(cards []driver.Seen) string {
	of := []int{cuda.Least}
	for _, c := range cards {
		of = append(of, 10*c.Capability[0]+c.Capability[1])
	}
	var all []string
	for _, sm := range of {
		texts, err := kernelTexts(sm)
		if err != nil && sm != cuda.Least {
			continue // an older card, which is refused in its own line
		}
		if err != nil {
			return err.Error()
		}
		all = slices.AppendSeq(all, maps.Values(texts))
	}
	least, err := driver.MinDriver(all...)
	if err != nil {
		return err.Error()
	}
	return least.String()
}

// kernelTexts are the PTX texts for a compute capability, by file name.
func kernelTexts(sm int) (map[string]string, error) {
	modules, err := kernel.Modules(sm)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, m := range modules {
		texts[m.Name] = m.Text
	}
	return texts, nil
}

// tryGPU compiles the kernels for a GPU.
func tryGPU(g cli.GPU) (string, error) {
	var major, minor int
	if _, err := fmt.Sscanf(strings.TrimSpace(g.Capability), "%d.%d", &major, &minor); err != nil {
		return "", fmt.Errorf("compute capability %s: %w", g.Capability, err)
	}
	texts, err := kernelTexts(10*major + minor)
	if err != nil {
		return "", err
	}
	tried, err := gpus().Try(g.UUID, texts)
	if err != nil {
		return "", err
	}
	seconds, kernels, spilled := 0.0, 0, 0
	for _, file := range tried {
		seconds += file.Seconds
		kernels += len(file.Kernels)
		for _, k := range file.Kernels {
			if k.Local > 0 {
				spilled++
			}
		}
	}
	said := fmt.Sprintf("%d in %d files compiled or found compiled in %.2f s", kernels, len(tried), seconds)
	if spilled > 0 {
		said += fmt.Sprintf(", %d of them with memory beside their registers", spilled)
	}
	return said, nil
}

// watchGPU says what a GPU is doing.
func watchGPU(uuid string) (pane.GPU, error) {
	u, err := gpus().Usage(uuid)
	g := pane.GPU{Busy: u.Compute, Used: float64(u.Used), Total: float64(u.Total), Temperature: u.Temperature, Power: u.Power}
	if u.Total == 0 {
		g.Used = -1
	}
	return g, err
}
