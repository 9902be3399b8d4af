// Package plan compiles graphs into programs that a device runs again and again without allocating.
// Gorgonia provides the graph and the gradients; our executor runs them.
//
// # Compile
//
// Compile differentiates the loss, keeps only what the outputs, the loss and the optimiser need
// (dead code is dropped), fuses what a device can do in one pass (ReLU into the product before it,
// its gradient mask into the product after it), and appends the optimiser's step and the updates of
// averages to the same program.
//
// # Build
//
// Plans are built once and run many times. Building takes milliseconds, and everything that may
// change live (a learning rate, τ, γ, α) is a tensor of one number that the program reads at each
// run.
//
// # Inputs and tensors
//
// An input (Input of op.Graph) belongs to one program, and the host writes it through Data. A tensor
// that is bound (Bind) is shared by all programs that bind it, and the host writes its own Data, as it
// does for a batch that two programs read; weights, and whatever else programs change, need Push after
// that, and Fetch before the host reads them.
//
// # Stop
//
// A program computes its loss and the global norm of its gradients before the optimiser steps and
// averages move. If either is not finite, the program stops there, changes nothing, runs once more
// in checking mode, and returns a *NotFinite that names the first instruction and tensor with such
// a number.
//
// # Routines and sequences
//
// Some work between gradient steps is not a graph: sampling a batch from a ring, choosing a subset,
// the step of α. Where a device can do such work, it is a Routine, a program like any other. A
// Sequence is a list of programs that such a device runs as one.
//
// # Caches and blocks
//
// A program has a fixed number of rows. A Cache keeps programs by rows, or by whatever else they are
// compiled for; Blocks passes any number of rows through one program.
//
// # Run
//
// Run executes the program on the memory that its inputs and parameters are bound to. A Program
// also implements gorgonia.VM, so it can replace a TapeMachine; node.Value() of an output is a view
// of the program's memory.
package plan
