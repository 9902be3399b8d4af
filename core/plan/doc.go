// Package plan compiles graphs into programs that a device runs again and again
// without allocating: Gorgonia's graph and gradients in front, our executor
// behind.
//
// # Compile
//
// Compile differentiates the loss, keeps only what the outputs, the loss and the
// optimiser need (dead code goes), fuses what a device can do in one pass (ReLU
// into the product before it, its gradient mask into the product after it), and
// appends the optimiser's step and the moves of averages to the same program.
//
// # Build
//
// Plans are built once and run many times: building takes milliseconds, and
// everything that may change live (a learning rate, τ, γ, α) is a tensor of one
// number that the program reads at each run.
//
// # Stop
//
// A program computes its loss and the global norm of its gradients before the
// optimiser steps and averages move. If either is not finite it stops there,
// changes nothing, runs once more in checking mode, and returns a *NotFinite that
// names the first instruction and tensor with such a number.
//
// # Acts and sequences
//
// What stands between gradient steps and is no graph (a batch sampled from a ring, a
// subset, the step of α) is a Routine where a device can do it, a program like any other.
// A Sequence is programs that such a device runs as one.
//
// # Run
//
// Run executes the program on the memory that its inputs and parameters are
// bound to. A Program also implements gorgonia.VM, so that it stands where a
// TapeMachine could; node.Value() of an output is a view of the program's memory.
package plan
