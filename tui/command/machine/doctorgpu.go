package machine

import "pgrlab/tui/command/cli"

// examineGPU looks for GPUs, and tries the kernels on the one that auto takes. It says what takes
// long.
func examineGPU(d cli.Deps, said func(line string)) gpuReport {
	if d.GPUs == nil {
		return gpuReport{Note: "not part of this build: training runs on the CPU"}
	}
	stop := awaitDriver(said)
	r := gpuReport{GPUs: d.GPUs()}
	stop()
	r.Supported = r.Error == ""
	if !r.Supported {
		r.Note = "none: training runs on the CPU: " + r.Error
		return r
	}
	where, err := FindDevice(d, "auto", Precisions[0], said)
	switch {
	case err != nil:
		r.Note = cli.Line(err)
		return r
	case where.GPU == nil:
		r.Note = "--device auto " + where.Said
		return r
	}
	r.Note = "--device auto " + where.Said
	if r.Kernels, err = d.TryGPU(*where.GPU); err != nil {
		r.Failed = cli.Line(err)
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
		row("", "%s  %s%s", g.Device(), g.Describe(), g.Load())
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
