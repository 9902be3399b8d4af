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
// GPU yet, and no time on one is known. What is known is what the PTX interpreter
// (package ptx) makes of the committed PTX: every operation, and agents, generators,
// curiosity and RND as whole programs, agree with the CPU, in fp32, and in tf32 and
// bf16 within their roundings. The interpreter proves arithmetic, addresses, races and
// barriers; it proves nothing about a real compiler of PTX, about time, or about the
// rounding of sums within a tensor core.
//
// `make gpu-bundle` and `make gpu-check` run the same tests on a card and time the
// workloads of core/bench beside PyTorch (check/check.py). Whoever has run it on a
// card writes here which one, when, and what was seen:
//
//	part                                    card    when
//	driver: binding, JIT, graphs, NVML      none    never
//	kernels: fp32                           none    never
//	kernels: tf32, bf16 on tensor cores     none    never
//	memory, parking, checking mode          none    never
//	a whole run                             none    never
//
// # Not done: one graph for an env step
//
// Each update is a graph, or three where the policy steps, with a copy up and down
// and one wait: the host draws the batch, and steps the temperature between two of
// them. One graph for the 20 updates of an env step needs the following, in an order
// in which each step is worth something alone.
//
//  1. Replay on the device. Both rings are tensors [capacity, width] that stay in device
//     memory; one env step appends one row (a copy of width numbers), a generation
//     replaces the synthetic ring without leaving the device. The host's ring stays,
//     for checkpoints and analyses.
//  2. Rows drawn in a kernel: from (stream replay, occasion u) as replay.Mixer draws
//     them, so that the rows are the same. A draw there may reject numbers of the
//     sequence (rng.Sequence.IntN), which moves all that follow: thread i tries number
//     i, and in the rare batch with a rejection one thread draws again in order. It
//     then writes s, a, r, s', d of its row to where the batch now is uploaded.
//  3. The temperature as a program. Its step is float64 on the host
//     (agent.temperature); on the device it is one thread with the same float64 arithmetic,
//     but an exponential whose last bit may differ from Go's: the journal of a GPU
//     run changes with it, once.
//  4. The subset of critics (REDQ) by a kernel, from (stream subset, occasion u).
//  5. device.Sequence: programs in order with their occasions, captured as one graph.
//     State already counts the optimiser's steps on the device and stays closed once
//     it is: what is missing is an occasion for each run (a word each, written by the
//     host before the launch) and losses kept for each (a row each of one output).
//     An update that is not finite must leave those after it out of the graph's effect
//     and be found again by the host, which knows the occasion.
//
// Priorities (prioritized replay), a bonus on the reward and a model that scores batches
// read numbers on the host between updates: with them an env step stays a graph for
// each update.
package cuda
