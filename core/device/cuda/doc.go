// Package cuda runs programs on an NVIDIA GPU, through the interface of package
// driver, with the kernels of package kernel.
//
// # Memory
//
// What outlives runs (parameters, moments, averages, and weights that somebody
// pushed) is in the device's memory once, whatever number of programs uses it, and
// the host's memory is a copy (device.Mirror). What the host writes for each run
// (batches, learning rates) and what it reads after it (losses, outputs) is one block
// for each program: one copy up, one down. What a program makes and uses itself is
// in a workspace that all programs share, laid out by liveness.
//
// # Runs
//
// A program is captured when it first runs: the copy up, all kernels, the copy down
// are one graph (several where the arithmetic of one would keep others from the GPU
// for more than some 20 ms). A run writes pinned memory, launches the graph, and
// waits without spinning. Occasions, the steps of an optimiser and the items of fills
// are words in the block, so that no run needs a new graph.
//
// # Stop
//
// The kernels of package kernel that end a program check gradients and losses, and
// step only if all is finite. If not, the instructions run once more, one by one,
// until the first number is found that is not finite, as on the CPU.
//
// # Seen
//
// No part of this package, of package kernel or of package driver has been run on a
// GPU yet. Everything is tested through the PTX interpreter (package ptx).
package cuda
