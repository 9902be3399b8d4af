package driver

import "math"

// Ptr is an address in device memory; 0 is none.
type Ptr uint64

// Driver gives access to the devices of this machine.
type Driver interface {
	// Version returns the version of the CUDA driver interface: 12040 is 12.4.
	Version() (int, error)
	// Devices returns the devices that this process may use: all in PCI order, or those of
	// CUDA_VISIBLE_DEVICES in its order. Info.Index counts them from 0.
	Devices() ([]Info, error)
	// Open opens device i of Devices.
	Open(i int) (Context, error)
}

// Info describes a device.
type Info struct {
	Index      int
	Name, UUID string // the UUID as nvidia-smi writes it: GPU-…, or MIG-… of a part of one
	Capability [2]int // 8, 0 of sm_80
	// Memory and Free are in bytes; Free is the memory that was free when the device was queried.
	Memory, Free   uint64
	Processors     int // streaming multiprocessors
	SharedPerBlock int // bytes of shared memory that a block may have at most
}

// Context is an open device with a stream of work, and a second one for work beside it. It belongs to
// one goroutine. It handles OS threads itself, so the caller need not lock one.
//
// Upload, Download, Copy and Launch only put work into the stream, which executes it in order.
// Synchronize, at the latest, reports a failure of that work.
type Context interface {
	// Info returns the device's description from Devices.
	Info() Info
	// Load compiles PTX for the device. An error contains the compiler's own message.
	Load(ptx string) (Module, error)
	// Alloc allocates memory: 256-byte aligned, zeroed before any work that is put into the stream
	// later. If there is not enough, the error is an *OutOfMemory.
	Alloc(bytes int) (Ptr, error)
	// Free releases memory once the work in the stream is done.
	Free(Ptr) error
	// AllocHost allocates pinned memory of the host, zeroed.
	AllocHost(bytes int) ([]byte, error)
	// FreeHost releases a slice that AllocHost returned.
	FreeHost([]byte) error
	// Upload copies src to the device. Pinned memory is read when the stream reaches the copy, so
	// src must not change before Synchronize. Other memory is copied immediately.
	Upload(dst Ptr, src []byte) error
	// Download copies device memory to dst, which contains it after Synchronize.
	Download(dst []byte, src Ptr) error
	// Copy copies from device memory to device memory; the two must not overlap.
	Copy(dst, src Ptr, bytes int) error
	// Launch runs f on a grid of blocks of threads, with shared bytes of dynamic
	// shared memory.
	Launch(f Function, grid, block [3]uint32, shared uint32, args ...Arg) error
	// Capture makes a graph of the launches, uploads, downloads (to and from pinned memory) and
	// copies that record puts into the stream, without executing them. record may call no other
	// method of the context.
	Capture(record func() error) (Graph, error)
	// Beside puts what enqueue puts into the stream, graphs included, into the second stream instead. That work
	// waits for what the first stream has had so far; what the first stream gets from then on goes on
	// beside it, until Synchronize or, during a capture, until the end of the graph.
	Beside(enqueue func() error) error
	// Synchronize waits until all work in both streams is done. It polls for about 300 µs and then
	// blocks its thread.
	Synchronize() error
	// Memory returns the memory of the device, in bytes, as used by all processes.
	Memory() (free, total uint64, err error)
	// Close releases everything: memory, modules, graphs.
	Close() error
}

// Module is PTX compiled for a device.
type Module interface {
	// Function finds a kernel by the name of its .entry.
	Function(name string) (Function, error)
}

// Function is a kernel that can be launched.
type Function interface {
	Name() string
	// Resources returns what the driver's compiler has assigned to the kernel; zero for an
	// interpreted kernel.
	Resources() Resources
}

// Resources are what a compiled kernel uses of a multiprocessor.
type Resources struct {
	Registers int `json:"registers"` // per thread
	// Local is the memory of a thread, in bytes: registers that were spilled, and arrays.
	Local  int `json:"local"`
	Shared int `json:"shared"` // per block, in bytes, before what a launch adds
	// Threads is the largest block with which it can be launched.
	Threads int `json:"threads"`
}

// Graph is captured work that can be put into the stream as a whole.
type Graph interface {
	// Launch puts the graph into the stream. Uploads read their pinned memory again.
	Launch() error
	// Close releases the graph.
	Close() error
}

// Arg is an argument of a kernel: Size bytes (4 or 8), little endian in Bits.
type Arg struct {
	Bits uint64
	Size int
}

// PtrArg passes a device address.
func PtrArg(p Ptr) Arg { return Arg{Bits: uint64(p), Size: 8} }

// U32 passes an unsigned 32-bit number.
func U32(v uint32) Arg { return Arg{Bits: uint64(v), Size: 4} }

// I32 passes a signed 32-bit number.
func I32(v int32) Arg { return Arg{Bits: uint64(uint32(v)), Size: 4} }

// F32 passes a 32-bit floating-point number.
func F32(v float32) Arg { return Arg{Bits: uint64(math.Float32bits(v)), Size: 4} }

// U64 passes an unsigned 64-bit number.
func U64(v uint64) Arg { return Arg{Bits: v, Size: 8} }
