// Package driver is an interface to what a CUDA driver does: devices, memory, one stream of work,
// kernels from PTX, and graphs captured once and launched often.
//
// Everything above this package uses Driver and Context alone, so that the same code is tested
// without a GPU and runs on one. Native is the driver of the machine: libcuda.so.1, opened at run
// time without cgo and without the CUDA toolkit. The driver in core/testing/emulator interprets the
// PTX and enforces rules that a real driver does not check. Choose finds the device that --device
// asks for; Monitor (NVML) reports what devices are doing.
//
// # Verification
//
// The binding is tested against a driver in C (testdata), which checks every argument, the threads
// and the order of calls, and fails at each of them on request. On a card it
// has run on an H100 and an H200 (package cuda, Verification).
//
// # Linking
//
// Only one package imports purego, because purego links a program to the system's C library at run
// time even without cgo. Built with -tags nogpu, the program is static again, and runs on systems
// without glibc.
package driver
