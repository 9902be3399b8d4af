// Package cuda runs programs on an NVIDIA GPU, through the interface of package
// driver, with the kernels of package kernel.
//
// # Memory
//
// What outlives runs (parameters, moments, averages, and weights that were
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
// # Env steps
//
// All updates of an env step are one graph (device.Sequence; sac.Agent.UpdateN): one copy
// up, one wait, one copy down. The host acts (a small graph of its own), writes one row
// into the device's memory, and launches. What lies between two gradient steps is
// programs of one kernel each (device.Routine), so that the host has no part in it:
//
//   - Both rings have a copy in the device's memory, [rows, width], with room for what
//     will be in them. What was added since the last env step is put there; all rows
//     are, when there is another ring (a new generation, a checkpoint) or the device
//     was parked. The host's rings stay: checkpoints and analyses read them, and a
//     generation comes from the host, where it is put into units; its way up is some
//     ten milliseconds after minutes of sampling. Where there is no memory for them the
//     host samples the batches, and each update is a graph, or three and α's.
//   - Batches: the rows that replay.Mixer names. Thread i tries number i of the stream;
//     in a batch with a number that rng.Sequence.IntN rejects, which moves all that
//     follow, one thread samples them again in order.
//   - The subset of critics (REDQ), by the numbers of rng.Sequence.Choose.
//   - α: a step on log α in float64. The sum over the batch, the powers and the
//     exponential differ from the host's in their last bits.
//
// Each run of a program in the sequence has its own frame (its occasion, its outputs:
// the losses of each update) and arguments that name it; tensors that the host writes
// are there once. Learning rates, τ, the mix of a batch and the lengths of the rings are
// words of the block: another batch size or another number of updates makes a new graph,
// nothing else does. A sequence longer than a graph may be is several, as a program is.
//
// All runs of the sequence share a gate. The run that meets a number which is not finite
// closes it, and from there on nothing changes: not parameters, moments and averages,
// nor batch, subset and α. So that program finds its fault again where it stands; the
// host counts the update as made and makes those after it one by one.
//
// Priorities (prioritized replay), a bonus on the reward and a model that scores batches
// read numbers on the host between updates: with them each update is a graph, or three
// and α's where the policy steps, as it is after a stop. Models that are trained beside
// the agent (curiosity, RND) have their batches sampled on the host, a graph for each, after the
// agent's sequence.
//
// # Frames
//
// Frames stay in the host's memory. The host draws, shifts and scales a batch of them, and
// each update is a graph for each part of its batch, whose copy up has the images in
// float32: 130 MB for 256 rows of s and s′ of 84×84×9.
//
// # Stop
//
// The kernels of package kernel that end a program check gradients and losses, and
// step only if all is finite (the gate). If not, the instructions run once more, one by
// one, until the first number is found that is not finite, as on the CPU.
//
// # When a device fails
//
// A lost device says so in every call from then on (driver.LostDevice), and one without
// room for what it is asked for says how much there is (device.OutOfMemory). What was
// computed since the last checkpoint is gone in either case: package lab waits, or ends
// the run, and goes on from there, on this device or on another one.
//
// # Seen
//
// No part of this package, of package kernel or of package driver has been run on a
// GPU yet, and no time on one is known. What is known is what the PTX interpreter
// (package ptx) makes of the committed PTX: every operation, and agents, generators,
// curiosity and RND as whole programs, agree with the CPU, in fp32, and in tf32 and
// bf16 within their roundings; of frames DrQ-v2, alone in each precision, and beside a
// generator, PPO and RND in fp32, and small whole runs of them (package lab). The interpreter proves arithmetic,
// addresses, races and barriers; it proves nothing about a real compiler of PTX, about
// time, or about the rounding of sums within a tensor core.
//
// `make gpu-bundle` and `make gpu-check` run the same tests on a card, every tile and
// whole gradient steps at their true sizes, and time the workloads of core/bench beside
// PyTorch (check/check.py); `make gpu-check ARGS=--rehearse` does without a card what can
// be done so. No kernel goes unchecked: TestMain fails where no test has launched one.
// Cards it was run on, when, and what was seen:
//
//	part                                    card    when
//	driver: binding, JIT, graphs, NVML      none    never
//	kernels: fp32                           none    never
//	kernels: images (fp32)                  none    never
//	kernels: tf32, bf16 on tensor cores     none    never
//	memory, parking, checking mode          none    never
//	batches, subsets, α, env steps as one   none    never
//	a whole run                             none    never
//	a whole run from frames                 none    never
package cuda
