package mujoco

import (
	"math"
	"time"
)

// Error numbers of WASI, which Emscripten's system calls return negated.
const (
	errnoBadFile = 8
	errnoNoEntry = 44
)

// Memory is grown as by Emscripten's own host: by a fifth, at most 96 MB more than
// requested, up to 2 GB.
const (
	pageSize   = 1 << 16
	maxHeap    = 1 << 31
	maxSurplus = 96 << 20
)

// systemFunctions are the system calls that the engine may make: clocks, an
// empty environment, and output that goes nowhere. Those on files are in files.go.
var systemFunctions = map[string]hostFunc{
	"emscripten_resize_heap":   resizeHeap,
	"emscripten_get_heap_max":  func(_ *Instance, s []uint64) { s[0] = maxHeap },
	"emscripten_asm_const_int": func(_ *Instance, s []uint64) { s[0] = 0 }, // sets JavaScript properties
	"emscripten_get_now": func(in *Instance, s []uint64) {
		s[0] = math.Float64bits(float64(time.Since(in.started)) / float64(time.Millisecond))
	},
	"emscripten_date_now": func(_ *Instance, s []uint64) {
		s[0] = math.Float64bits(float64(time.Now().UnixMilli()))
	},
	"clock_time_get": func(in *Instance, s []uint64) {
		in.memory.WriteUint64Le(uint32(s[2]), uint64(time.Now().UnixNano()))
		s[0] = 0
	},
	"_tzset_js":     func(*Instance, []uint64) {},
	"_localtime_js": func(*Instance, []uint64) {},
	"environ_sizes_get": func(in *Instance, s []uint64) {
		in.memory.WriteUint32Le(uint32(s[0]), 0)
		in.memory.WriteUint32Le(uint32(s[1]), 0)
		s[0] = 0
	},
	"environ_get":       func(_ *Instance, s []uint64) { s[0] = 0 },
	"fd_write":          discard,
	"__syscall_fcntl64": fails(errnoBadFile),
	"__syscall_ioctl":   fails(errnoBadFile),
	"__syscall_dup3":    fails(errnoBadFile),
	"_abort_js":         func(*Instance, []uint64) { panic(&Error{Message: "the engine aborted"}) },
	"exit":              func(*Instance, []uint64) { panic(&Error{Message: "the engine exited"}) },
	"__assert_fail": func(in *Instance, s []uint64) {
		panic(&Error{Message: "assertion failed: " + in.cstring(uint32(s[0]))})
	},
}

func fails(errno int32) hostFunc {
	return func(_ *Instance, s []uint64) { s[0] = uint64(uint32(-errno)) }
}

// resizeHeap(bytes) → 1 when the memory now holds at least that much. All views
// are stale afterwards; they are renewed before the engine's caller goes on.
func resizeHeap(in *Instance, s []uint64) {
	want, have := uint64(uint32(s[0])), uint64(in.memory.Size())
	s[0] = 0
	for cut := uint64(1); cut <= 4 && want <= maxHeap; cut *= 2 {
		size := max(want, min(have+have/(5*cut), want+maxSurplus))
		pages := (min(size, maxHeap) - have + pageSize - 1) / pageSize
		if _, ok := in.memory.Grow(uint32(pages)); ok {
			in.grown = true
			s[0] = 1
			return
		}
	}
}

// discard(fd, iov, n, *written) drops what the engine prints, because a screen may own
// the terminal. Errors are not reported this way.
func discard(in *Instance, s []uint64) {
	var written uint32
	for i := range uint32(s[2]) {
		written += in.u32(uint32(s[1]) + 8*i + 4)
	}
	in.memory.WriteUint32Le(uint32(s[3]), written)
	s[0] = 0
}
