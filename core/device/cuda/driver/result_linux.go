//go:build !nogpu && (amd64 || arm64)

package driver

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

// unavailable lists the results that mean, when the driver starts, that there is no GPU for us.
var unavailable = map[result]bool{
	stubLibrary: true, noDevice: true, notReady: true, wrongVersions: true, noCompatibility: true, unknown: true,
}
