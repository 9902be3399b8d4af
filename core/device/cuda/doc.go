// Package cuda runs programs on an NVIDIA GPU, through the interface of package driver, with the
// kernels of package kernel.
//
// # Memory
//
// Tensors that outlive runs (parameters, moments, averages, and weights that were pushed) are in
// the device's memory once, whatever number of programs uses them, and the host's memory is a copy
// (device.Mirror). What the host writes for each run (batches, learning rates) and what it reads
// after the run (losses, outputs) is one block for each program: one copy up, one copy down. What a
// program makes and uses itself is in a workspace that all programs share, laid out by liveness; what follows
// a product may be in the place of its operand.
//
// On compute capability 9.0 large products read packed operands. A weight that a program only reads
// stays packed between its runs, in memory that all programs share, until a program or the host
// writes it: a generator packs its weights once for all calls of a generation.
//
// # Runs
//
// A program is captured when it first runs: the copy up, all kernels and the copy down are one
// graph, or several if the arithmetic of one would keep others from the GPU for more than about 20
// ms. A run writes pinned memory, launches the graph, and waits without spinning. Occasions, the
// steps of an optimiser and the items of fills are words in the block, so that no run needs a new
// graph.
//
// # Env steps
//
// All updates of an env step are one graph (device.Sequence; sac.Agent.UpdateN): one copy up, one
// wait, one copy down. The host acts (a small graph of its own), writes one row into the device's
// memory, and launches. The work between two gradient steps is programs of one kernel each
// (device.Routine), so that the host is not involved:
//
//   - Both rings have a copy in the device's memory, [rows, width], with room for
//     future rows. Rows added since the last env step are put there; all rows
//     are put if there is another ring (a new generation, a checkpoint) or if the device
//     was parked. The host's rings remain: checkpoints and analyses read them, and a
//     generation comes from the host, where it is converted to units; its upload takes some
//     ten milliseconds after minutes of sampling. If there is no memory for the copies, the
//     host samples the batches, and each update is a graph, or three graphs and α's.
//   - Batches contain the rows that replay.Mixer names. Thread i tries number i of the stream.
//     If a batch contains a number that rng.Sequence.IntN rejects, which shifts all numbers
//     after it, one thread samples the batch again in order.
//   - The subset of critics (REDQ) uses the numbers of rng.Sequence.Choose.
//   - α is a step on log α in float64. The sum over the batch, the powers and the
//     exponential differ from the host's in their last bits.
//
// Each run of a program in the sequence has its own frame (its occasion and its outputs, such as
// the losses of each update) and arguments that refer to it; tensors that the host writes are there
// once. Learning rates, τ, the mix of a batch and the lengths of the rings are words of the block.
// Only another batch size or another number of updates requires a new graph. A sequence longer than
// the limit for a graph is several graphs, as a program is.
//
// All runs of the sequence share a gate. The run that meets a number that is not finite closes the
// gate, and from then on nothing changes: neither parameters, moments and averages, nor batch,
// subset and α. So the program finds its fault again in the same state. The host counts that update
// as made and makes the following ones one by one.
//
// Priorities (prioritized replay), a bonus on the reward and a model that scores batches read
// numbers on the host between updates. With them each update is a graph, or three graphs and α's
// where the policy steps, as it is after a stop. For models that learn from transitions as the agent
// does (curiosity, RND, disagreement), the host samples the batches, one graph for each. If all updates of
// the env step are one graph, a model's is launched before it into a second stream
// (device.Starter), with a workspace of its own, so that both go on at the same time and the host waits
// once; otherwise it comes after the agent's updates. The numbers are the same: neither uses what the other writes.
//
// # Fits
//
// Gradient steps of a diffusion model and of its heads are sequences, too: up to 16 of them, whole intervals between updates of
// the average, with one wait (generative.Together). The normalised rows of a fit, each with its condition, are in a
// store, of which the device samples the batches with the host's numbers. The learning rate, the weight of the
// average and which conditions are kept differ between the runs of the sequence (Sequence.Own); the host writes them
// before it. Steps before a multiple of that number, after a resume, are made one by one on the same data. Without room for
// the data, or with noise in what a fit learns, the host draws the batches, one graph for each step.
//
// The sampler's calls for two noise levels, each a prediction and a correction, are a sequence as well; a level's numbers
// differ between its runs. Weights that no program of a sequence writes stay packed within it.
//
// # Frames
//
// For DrQ-v2 the device's memory has a copy of the frames in the replay, as bytes, each once. It grows
// with them, and is given up when anything else needs the memory (device.Sequencer's Cache). An update
// is three graphs: for the batch the host names frames and shifts, and the device makes stacks of
// shifted frames (device.StackFrames), as bytes; the critics' program makes numbers of them
// (device.FromBytes); the policy's follows. All rows of a batch are in one program, whatever
// agent.drqv2.slice says. If there is no memory for the copy, the host draws and shifts the frames, and
// copies the images up: 33 MB for 256 rows of s and s′ of 84×84×9. PPO's steps take their images in
// the same way from a copy of the rollout's frames. Acting, evaluations and encoding upload images:
// DrQ-v2's as bytes, PPO's and those of models of frames as numbers.
//
// # Stop
//
// The kernels of package kernel that end a program check gradients and losses, and step only if
// everything is finite (the gate). Otherwise the instructions run once more, one by one, until the
// first number that is not finite is found, as on the CPU.
//
// # When a device fails
//
// After a device is lost, every call reports that (driver.LostDevice), and a device without room
// for a request reports how much there is (device.OutOfMemory). In either case, the results since
// the last checkpoint are gone: package lab waits, or ends the run, and continues from the
// checkpoint, on this device or on another one.
//
// # Verification
//
// What the PTX interpreter (package ptx) computes from the committed PTX agrees with the CPU: every
// operation, and agents, generators, curiosity and RND as whole programs, in fp32, and in tf32 and
// bf16 within their roundings. On frames, DrQ-v2 agrees alone in each precision and beside a
// generator, and PPO and RND agree in fp32, as do small whole runs of them (package lab). The
// interpreter proves arithmetic, addresses, races and barriers; it proves nothing about a real
// compiler of PTX, about time, or about the rounding of sums within a tensor core.
//
// `make gpu-bundle` and `make gpu-check` run the same tests on a card, every tile and whole
// gradient steps at their true sizes, and time the workloads of core/bench beside PyTorch
// (check/check.py); `make gpu-check ARGS=--rehearse` does what is possible without a card. No
// kernel goes unchecked: TestMain fails if no test has launched one.
//
// Cards it was run on, when, and what was seen (docs/evidence/gpu.md has the times):
//
//	part                                    card              when         seen
//	driver: binding, JIT, graphs            H100 80GB HBM3    2026-11-26   right
//	kernels: fp32                           H100 80GB HBM3    2026-11-26   right, every kernel
//	kernels: images (fp32)                  H100 80GB HBM3    2026-11-26   right
//	kernels: tf32, bf16, mma.sync           H100 80GB HBM3    2026-11-26   right; slower than planned
//	kernels: tf32, bf16, wgmma              H100 80GB HBM3    2026-11-26   right
//	memory, parking, checking mode          H100 80GB HBM3    2026-11-26   right, alone on the card
//	batches, subsets, α, env steps as one   H100 80GB HBM3    2026-11-26   right
//	a whole run                             H100 80GB HBM3    2026-11-26   6,000 steps of cpu and release
//	whole runs from frames                  H100 80GB HBM3    2026-11-26   demo and short to the end, 14 at a time under MPS
//	frames in the device's memory           H100 80GB HBM3    2026-11-27   right
//	weights that stay packed                H200              2026-11-27   right
//	all but whole runs from states          H200              2026-11-27   right; short from frames to the end
//	fits as sequences, gradients together   none              never
//	operands made on their way, in place    none              never
//	groups, bins, RMS norm, gated update,   none              never
//	  LaProp and the clip of tensors
//	programs beside others                  none              never
//	a card that is lost, MIG                none              never
package cuda
