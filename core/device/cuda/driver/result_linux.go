//go:build !nogpu && (amd64 || arm64)

package driver

// result is a CUresult, the value of every function of the CUDA driver.
type result int32

// Those that something is made of; the rest is only reported.
const (
	success         result = 0
	outOfMemory     result = 2
	deinitialized   result = 4
	stubLibrary     result = 34
	inUse           result = 46
	noDevice        result = 100
	invalidDevice   result = 101
	noBinary        result = 209
	eccError        result = 214
	invalidPTX      result = 218
	nvlinkError     result = 220
	noJIT           result = 221
	tooNewPTX       result = 222
	noCompilation   result = 223
	notReady        result = 802
	wrongVersions   result = 803
	noCompatibility result = 804
	unknown         result = 999
)

// advised says what to do about a result.
var advised = map[result]string{
	stubLibrary:     "this libcuda is a stub for linking: install NVIDIA's driver, or use --device cpu",
	inUse:           "another process has the GPU for itself: wait, choose another one, or use --device cpu",
	noDevice:        "the driver found no GPU: check nvidia-smi, CUDA_VISIBLE_DEVICES and, in a container, --gpus; or use --device cpu",
	invalidDevice:   "pgrlab list devices says which there are",
	noBinary:        "this GPU is too old for these kernels: use another one or --device cpu",
	noJIT:           "libnvidia-ptxjitcompiler.so.1 belongs to the driver and is missing: install it, or mount it into the container",
	tooNewPTX:       "the driver is too old for these kernels: pgrlab doctor names the least one",
	noCompilation:   "CUDA_DISABLE_PTX_JIT is set: unset it",
	notReady:        "the GPUs are still starting, or the fabric manager is not running: try again, or ask who runs the machine",
	wrongVersions:   "driver and kernel module differ, as after an update: restart the machine",
	noCompatibility: "the libraries of cuda-compat do not support this GPU: take them out of LD_LIBRARY_PATH",
	unknown:         "the driver does not work: check nvidia-smi and dmesg, load the module nvidia-uvm, or use --device cpu",
	outOfMemory:     "close other programs on the GPU or make the run smaller (--gpu-mem)",
}

// unavailable are those that mean, when the driver starts, that there is no GPU for
// us.
var unavailable = map[result]bool{
	stubLibrary: true, noDevice: true, notReady: true, wrongVersions: true, noCompatibility: true, unknown: true,
}

// lost are those after which the context does nothing any more: a failed kernel,
// or a device that fell off the bus. Work that was done cannot be trusted and
// memory cannot be read.
func (r result) lost() bool {
	switch r {
	case deinitialized, eccError, nvlinkError, unknown:
		return true
	}
	// 700 illegal address, 702 timeout, 709 context destroyed, 710 assertion, 714 to
	// 719 faults while a kernel ran, 721 faults of another kernel of the process.
	switch {
	case r == 700, r == 702, r == 709, r == 710, r >= 714 && r <= 719, r == 721:
		return true
	}
	return false
}
