// Package driver is what a CUDA driver does, as an interface: devices, memory, one
// stream of work, kernels from PTX, and graphs captured once and launched often.
//
// Everything above it is written against Driver and Context alone, so that what
// is tested without a GPU is what runs on one. Native is the driver of the machine:
// libcuda.so.1, opened at run time without cgo and without the CUDA toolkit.
// The one of core/testing/emulator interprets the PTX and is strict about the rules that a
// real driver takes on trust. Choose finds the device that --device asks for; Monitor (NVML)
// says what devices are doing.
//
// # What was seen where
//
// The binding is tested against a driver in C (testdata), which checks every
// argument, thread and order of calls, and fails at each of them on request. It
// has not yet been run on a GPU.
//
// # Why
//
// One package imports purego, because with it a program is linked to the system's
// C library at run time even without cgo. Built with -tags nogpu it is static
// again, and runs on systems without glibc.
package driver
