// Package kernel contains the CPU's inner loops: matrix products with fused epilogues, elementwise
// functions and optimiser steps. It has no graphs, no threads and no allocation: every function
// works on the float32 slices that it is given and returns within a millisecond, so that Go can
// preempt between calls.
//
// Four families implement the same set. "avx512" and "avx2" are Go assembly that package gen
// generates with avo. "amx" is "avx512" with products on Intel's matrix unit; their operands are
// split into three parts so that none of float32's precision is lost. "go" is plain Go; it is the
// reference for the others and runs everywhere. Select picks a family by CPUID; the environment
// variable PGRLAB_KERNELS overrides it.
//
// Results differ between families in the last bits (fused multiply-add, other orders of summation),
// but never within a family: the same call on the same numbers gives the same bits, whatever else
// the machine does. In all families, random numbers are those of package rng.
package kernel
