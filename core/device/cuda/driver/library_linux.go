//go:build !nogpu && (amd64 || arm64)

package driver

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// symbol is a function of the CUDA driver that the binding calls.
type symbol int

const (
	cuInit symbol = iota
	cuDriverGetVersion
	cuDeviceGetCount
	cuDeviceGet
	cuDeviceGetName
	cuDeviceGetUUID
	cuDeviceGetUUIDOfPart
	cuDeviceGetAttribute
	cuDeviceTotalMem
	cuDevicePrimaryCtxSetFlags
	cuDevicePrimaryCtxRetain
	cuDevicePrimaryCtxRelease
	cuDevicePrimaryCtxReset
	cuCtxSetCurrent
	cuMemGetInfo
	cuMemAlloc
	cuMemFree
	cuMemHostAlloc
	cuMemFreeHost
	cuMemsetD8Async
	cuMemcpyHtoDAsync
	cuMemcpyDtoHAsync
	cuMemcpyDtoDAsync
	cuStreamCreate
	cuStreamDestroy
	cuStreamSynchronize
	cuStreamQuery
	cuStreamWaitEvent
	cuEventCreate
	cuEventRecord
	cuEventDestroy
	cuStreamBeginCapture
	cuStreamEndCapture
	cuGraphInstantiate
	cuGraphUpload
	cuGraphLaunch
	cuGraphDestroy
	cuGraphExecDestroy
	cuModuleLoadDataEx
	cuModuleUnload
	cuModuleGetFunction
	cuFuncGetAttribute
	cuFuncSetAttribute
	cuLaunchKernel
	cuGetErrorName
	cuGetErrorString
	symbols
)

// exported lists the functions' names in the library, the best first. Functions whose arguments
// changed have a versioned name: the plain name would read the arguments wrongly.
var exported = [symbols][]string{
	cuInit:                     {"cuInit"},
	cuDriverGetVersion:         {"cuDriverGetVersion"},
	cuDeviceGetCount:           {"cuDeviceGetCount"},
	cuDeviceGet:                {"cuDeviceGet"},
	cuDeviceGetName:            {"cuDeviceGetName"},
	cuDeviceGetUUID:            {"cuDeviceGetUuid"},
	cuDeviceGetUUIDOfPart:      {"cuDeviceGetUuid_v2", ""}, // came with 11.4, as parts (MIG) with UUIDs of their own did
	cuDeviceGetAttribute:       {"cuDeviceGetAttribute"},
	cuDeviceTotalMem:           {"cuDeviceTotalMem_v2"},
	cuDevicePrimaryCtxSetFlags: {"cuDevicePrimaryCtxSetFlags_v2"},
	cuDevicePrimaryCtxRetain:   {"cuDevicePrimaryCtxRetain"},
	cuDevicePrimaryCtxRelease:  {"cuDevicePrimaryCtxRelease_v2"},
	cuDevicePrimaryCtxReset:    {"cuDevicePrimaryCtxReset_v2"},
	cuCtxSetCurrent:            {"cuCtxSetCurrent"},
	cuMemGetInfo:               {"cuMemGetInfo_v2"},
	cuMemAlloc:                 {"cuMemAlloc_v2"},
	cuMemFree:                  {"cuMemFree_v2"},
	cuMemHostAlloc:             {"cuMemHostAlloc"},
	cuMemFreeHost:              {"cuMemFreeHost"},
	cuMemsetD8Async:            {"cuMemsetD8Async"},
	cuMemcpyHtoDAsync:          {"cuMemcpyHtoDAsync_v2"},
	cuMemcpyDtoHAsync:          {"cuMemcpyDtoHAsync_v2"},
	cuMemcpyDtoDAsync:          {"cuMemcpyDtoDAsync_v2"},
	cuStreamCreate:             {"cuStreamCreate"},
	cuStreamDestroy:            {"cuStreamDestroy_v2"},
	cuStreamSynchronize:        {"cuStreamSynchronize"},
	cuStreamQuery:              {"cuStreamQuery"},
	cuStreamWaitEvent:          {"cuStreamWaitEvent"},
	cuEventCreate:              {"cuEventCreate"},
	cuEventRecord:              {"cuEventRecord"},
	cuEventDestroy:             {"cuEventDestroy_v2"},
	cuStreamBeginCapture:       {"cuStreamBeginCapture_v2"},
	cuStreamEndCapture:         {"cuStreamEndCapture"},
	cuGraphInstantiate:         {"cuGraphInstantiateWithFlags", "cuGraphInstantiate_v2"}, // flags came with 11.4
	cuGraphUpload:              {"cuGraphUpload", ""},                                    // came with 11.1; "": do without
	cuGraphLaunch:              {"cuGraphLaunch"},
	cuGraphDestroy:             {"cuGraphDestroy"},
	cuGraphExecDestroy:         {"cuGraphExecDestroy"},
	cuModuleLoadDataEx:         {"cuModuleLoadDataEx"},
	cuModuleUnload:             {"cuModuleUnload"},
	cuModuleGetFunction:        {"cuModuleGetFunction"},
	cuFuncGetAttribute:         {"cuFuncGetAttribute"},
	cuFuncSetAttribute:         {"cuFuncSetAttribute"},
	cuLaunchKernel:             {"cuLaunchKernel"},
	cuGetErrorName:             {"cuGetErrorName"},
	cuGetErrorString:           {"cuGetErrorString"},
}

// places lists where the driver is on machines that do not tell the linker: WSL, and containers
// that mount the host's driver.
var places = []string{"", "/usr/lib/wsl/lib/", "/usr/local/nvidia/lib64/", "/run/opengl-driver/lib/"}

// library is the opened CUDA driver. It is safe for use by several goroutines.
type library struct {
	addresses [symbols]uintptr
	flagged   bool // cuGraphInstantiate takes flags
}

// dlopen opens a library by its path or, at its usual places, by its name.
func dlopen(file string) (uintptr, error) {
	var first error
	for _, place := range places {
		if place != "" && strings.Contains(file, "/") {
			break
		}
		handle, err := purego.Dlopen(place+file, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			return handle, nil
		}
		if first == nil {
			first = err
		}
	}
	return 0, first
}

// usualLibrary is the CUDA driver's name, as the system's linker finds it.
const usualLibrary = "libcuda.so.1"

// installed reports whether there is a driver, without calling any of its functions.
func installed(file string) bool {
	_, err := dlopen(cmp.Or(file, usualLibrary))
	return err == nil
}

func openLibrary(file string) (*library, error) {
	handle, err := dlopen(cmp.Or(file, usualLibrary))
	if err != nil {
		return nil, noLibrary(cmp.Or(file, usualLibrary), strings.TrimSpace(err.Error()))
	}
	l := &library{}
	for s, names := range exported {
		for _, name := range names {
			if name == "" {
				break
			}
			if at, err := purego.Dlsym(handle, name); err == nil && at != 0 {
				l.addresses[s] = at
				l.flagged = l.flagged || name == "cuGraphInstantiateWithFlags"
				break
			}
		}
		if l.addresses[s] == 0 && names[len(names)-1] != "" {
			return nil, &Unavailable{
				Reason: fmt.Sprintf("too old a CUDA driver: it has no %s", names[0]),
				Advice: fmt.Sprintf("install driver %s or newer, or use --device cpu", minOf(first)),
			}
		}
	}
	return l, nil
}

// minOf returns the first release with a version of CUDA.
func minOf(cuda int) Release {
	for _, r := range releases {
		if r.CUDA >= cuda {
			return r.Release
		}
	}
	return releases[len(releases)-1].Release
}

// call calls a function and returns its CUresult. Pointers among args must point to memory that
// does not move and that the caller keeps alive, so not to its stack.
func (l *library) call(s symbol, args ...uintptr) result {
	r, _, _ := purego.SyscallN(l.addresses[s], args...)
	return result(int32(r))
}

// cells holds the values that the driver returns. It must be on the heap, which does not move as
// stacks do: the compiler does not see that the addresses are passed on.
type cells struct {
	number int32
	word   uint64
	size   [2]uint64
	handle uintptr
	host   unsafe.Pointer
	text   [256]byte
	uuid   [16]byte
}

//go:noinline
func newCells() *cells { return new(cells) }

func at[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// cString returns text as a C string on the heap.
//
//go:noinline
func cString(text string) []byte { return append([]byte(text), 0) }

// goString returns a C string as a Go string.
func goString(p unsafe.Pointer) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}

// words returns the driver's name for a result and its description.
func (l *library) words(r result) string {
	c := newCells()
	name, sentence := "", ""
	if l.call(cuGetErrorName, uintptr(uint32(r)), at(&c.host)) == success {
		name = goString(c.host)
	}
	if l.call(cuGetErrorString, uintptr(uint32(r)), at(&c.host)) == success {
		sentence = goString(c.host)
	}
	if name == "" {
		return fmt.Sprintf("CUDA error %d", int(r))
	}
	if sentence == "" {
		return fmt.Sprintf("%s (%d)", name, int(r))
	}
	return fmt.Sprintf("%s (%s, %d)", sentence, name, int(r))
}

// fail returns the error of a call that did not succeed.
func (l *library) fail(doing string, r result) error {
	words := l.words(r)
	if advice, known := advised[r]; known {
		if unavailable[r] {
			return &Unavailable{Reason: doing + ": " + words, Advice: advice}
		}
		return fmt.Errorf("%s: %s: %s", doing, words, advice)
	}
	return fmt.Errorf("%s: %s", doing, words)
}

// setEnvironment sets how the driver, which reads these variables when it starts, counts devices, as
// nvidia-smi does, and where it keeps compiled kernels. The Go runtime passes the variables on to C.
//
// If our folder cannot be made, for example because the home directory is read-only, the driver
// uses its own or compiles at each start. That is slower, but no reason not to use the GPU.
func setEnvironment(cache string) error {
	if err := os.Setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID"); err != nil {
		return err
	}
	if _, given := os.LookupEnv("CUDA_CACHE_PATH"); given || cache == "" {
		return nil
	}
	if os.MkdirAll(cache, 0o755) != nil {
		return nil
	}
	return os.Setenv("CUDA_CACHE_PATH", cache)
}
