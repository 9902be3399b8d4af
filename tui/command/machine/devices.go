package machine

import "pgrlab/tui/command/cli"

// deviceValue is a device as JSON.
type deviceValue struct {
	Name   string   `json:"name"`
	Usable bool     `json:"usable"`
	Doc    string   `json:"doc"`
	GPU    *cli.GPU `json:"gpu,omitempty"`
}

// DeviceValues are the choices of --device on this machine.
func DeviceValues(d cli.Deps) []deviceValue {
	cpu := deviceValue{Name: "cpu", Usable: true}
	if d.Kernels != nil {
		k := d.Kernels()
		cpu.Usable = k.Error == ""
		cpu.Doc = k.Family + " kernels"
		if k.Error != "" {
			cpu.Doc = k.Error
		}
	}
	all := []deviceValue{cpu}
	if d.GPUs == nil {
		return append(all, deviceValue{Name: "cuda", Doc: "not part of this build"})
	}
	found := d.GPUs()
	if found.Error != "" {
		return append(all, deviceValue{Name: "cuda", Doc: found.Error})
	}
	for _, g := range found.Found {
		all = append(all, deviceValue{Name: g.Device(), Usable: true, Doc: g.Describe(), GPU: &g})
	}
	return all
}
