package driver

// result is a CUresult, the value of every function of the CUDA driver.
type result int32

// The results that are handled specially; all others are only reported.
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
	contained       result = 226 // CUDA_ERROR_CONTAINED: a fault of the hardware that the GPU has confined
	unfinished      result = 600 // CUDA_ERROR_NOT_READY: the stream has work to do
	notReady        result = 802 // CUDA_ERROR_SYSTEM_NOT_READY
	wrongVersions   result = 803
	noCompatibility result = 804
	mpsFailure      result = 806 // CUDA_ERROR_MPS_RPC_FAILURE
	mpsTerminated   result = 810 // CUDA_ERROR_MPS_CLIENT_TERMINATED: by MPS's server, for all of the process
	unknown         result = 999
)

// lost reports whether the context can no longer do anything after this result: a kernel failed, or
// a device fell off the bus, or the driver does nothing more for this process. Completed work
// cannot be trusted and memory cannot be read.
func (r result) lost() bool {
	switch r {
	case deinitialized, eccError, nvlinkError, contained, mpsFailure, mpsTerminated, unknown:
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

// LosesDevice reports whether a device is lost after a call that returned this CUresult.
func LosesDevice(code int) bool { return result(code).lost() }
