// Package driver is what a CUDA driver does, as an interface: devices, memory, one
// stream of work, kernels from PTX, and graphs captured once and launched often.
//
// Everything above it is written against Driver and Context alone, so that what
// is tested without a GPU is what runs on one.
package driver
