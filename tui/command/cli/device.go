package cli

import (
	"fmt"
	"strconv"
)

// GPU is a GPU of this machine.
type GPU struct {
	Index      int    `json:"index"` // as nvidia-smi counts, after CUDA_VISIBLE_DEVICES
	Name       string `json:"name"`
	UUID       string `json:"uuid"`
	Capability string `json:"capability"` // "9.0"
	Memory     uint64 `json:"memory"`     // bytes
	Free       uint64 `json:"free"`       // bytes
	// Known to NVML; nil if unknown.
	Compute     *float64 `json:"compute,omitempty"`     // share of time in which a kernel ran, 0 to 1
	Temperature *float64 `json:"temperature,omitempty"` // °C
	Power       *float64 `json:"power,omitempty"`       // W
	Others      *int     `json:"others,omitempty"`      // other processes that compute on it
}

// Device is the GPU's name for --device.
func (g GPU) Device() string { return "cuda:" + strconv.Itoa(g.Index) }

// Describe says what the GPU is and how much of it is free.
func (g GPU) Describe() string {
	text := fmt.Sprintf("%s, %s, compute capability %s, %s of %s free", g.Name, g.UUID, g.Capability, Size(int64(g.Free)), Size(int64(g.Memory)))
	if g.Others != nil && *g.Others > 0 {
		text += fmt.Sprintf(", in use by %d", *g.Others)
	}
	return text
}

// GPUs is what was found out about GPUs.
type GPUs struct {
	CUDA   string `json:"cuda,omitempty"`   // the driver's CUDA version: "12.4"
	Driver string `json:"driver,omitempty"` // its version, if known
	Least  string `json:"least_driver"`     // the first driver that can run the kernels
	NVML   string `json:"nvml,omitempty"`   // why NVML says nothing; "": it works
	Found  []GPU  `json:"devices"`
	Error  string `json:"error,omitempty"` // why there is no GPU
}

// DeviceRequest asks for a device.
type DeviceRequest struct {
	Threads int  // workers of the CPU; 0: as many as are allowed
	GPU     *GPU // nil: the CPU
	// Precision of a GPU's large products: fp32, tf32 or bf16.
	Precision string
	// Memory is how many bytes of a GPU may be used; 0: all that is free.
	Memory int64
	// Without names what a GPU does not do to need fewer launches, for checks: see bench.Switches.
	Without string
	Said    func(line string) // reports what takes long; may be nil
}

// Load is what NVML reports of a GPU's load.
func (g GPU) Load() string {
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
