// Package kernel holds the CPU's inner loops: matrix products with fused
// epilogues, elementwise functions, optimiser steps. It knows no graphs, no
// threads and no allocation: every function works on the float32 slices that it
// is given and returns within a millisecond, so that Go can preempt between
// calls.
//
// Four families implement the same set: "avx512" and "avx2" in Go assembly that
// package gen generates with avo, "amx", which is "avx512" with products on Intel's
// matrix unit, from operands split into three parts so that nothing of float32's
// precision is lost, and "go", plain Go, which is the reference for the others and
// runs everywhere. Select picks one by CPUID; the environment variable
// PGRLAB_KERNELS overrides it.
//
// Results differ between families in the last bits (fused multiply-add, other
// orders of summation), never within a family: the same call on the same
// numbers gives the same bits, whatever else the machine does. Random numbers are
// those of package rng in all.
package kernel
