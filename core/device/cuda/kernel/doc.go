// Package kernel contains what an NVIDIA GPU runs: kernels in CUDA C (cu), the PTX that clang makes
// of them (ptx, committed and embedded, so that neither clang nor CUDA's toolkit is needed to build
// or to run), and recipes. A recipe says for a device.Instr which kernels it becomes, over which
// grid, on which memory.
//
// Modules returns the PTX for a card, Lower the launches of an instruction, Segments the launches
// of all instructions of a program, with small ones grouped, and Finish the launches of a program's
// end: checks, optimiser, averages, or the program's device.Routine. Merge and Arrange give a program
// the form in which Segments makes the fewest launches. Nothing here talks to a driver: the package is
// text and arithmetic. In tests the PTX interpreter runs every kernel, and the results are compared with
// plain Go.
//
// # Numbers
//
// Every sum has a fixed order that depends only on the operands' shapes and on the Target: there
// are no floating-point atomics, and the order of arrival does not matter. The number of processors
// matters only by its class (tile.go), which decides how products are divided. So the same program
// on the same numbers gives the same bits on cards of one class in fp32, and with tensor cores on
// those of one class and generation: an A100, an H100 and a B200 add different numbers of products
// before they truncate a sum. Functions (exp, tanh, …) are the polynomials of the CPU's kernels,
// not a device library, accurate to 4 units in the last place; sums over rows, columns and tensors
// are in float64. Random numbers are identical to those of package rng to the last bit, normal ones
// too: their float64 arithmetic has the same roundings.
//
// # Why chains
//
// An update of small networks is about thirty launches of about two microseconds each, whatever
// they do. Most of them do very little, row by row: sample an action, put it beside the
// observation; take the smaller of two critics, the target, the gradient of the loss. A chain is a
// table of such steps that one launch goes through. Each block has its own rows, so that no step
// waits for other blocks. Elementwise work on the result of a product is done in the product's own
// kernel.
//
// # Matrix products
//
// A product has one of three layouts and is divided by a rule based on estimates (tile.go;
// TestDivisions shows its results for the networks in use). The rule uses float32 tiles down to
// 16×32, of which a layer at batch 256 makes enough for all multiprocessors. With TF32 or BF16, on
// cards from 8.0 on, it uses tensor cores for every product of at least 2²⁶ multiplications per
// member whose three sizes are 32 or more. So the networks of actors and critics at their usual
// widths stay exact, and the denoiser and its sampling get the requested precision. If there are
// too few tiles for the length of the sum, the sum is divided and a second launch adds the parts in
// order.
//
// There are three kinds of kernels for the tensor cores. Those by mma.sync (cu/tensor.h) run on all
// cards from 8.0 on. On 9.0 (Hopper) alone there are the instructions of warpgroups, wgmma, whose
// operands have to lie in shared memory in a certain way: kernels of their own round and lay out
// both operands, and one kernel multiplies what they made, whatever the layout was (packed.go,
// cu/warpgroup.h); or, for products of few rows, the kernel does that on the way (cu/direct.h). A
// product may write its result as the packed operand of the next one, and a row that is added to an
// operand, or multiplied by it, and a function of that need no pass of their own (precede.go).
//
// Gradients that only the optimiser reads come last in a program (Arrange). Large ones of weights of layers of one shape are
// one product of several members, whose operands the device lays out one after the other (Segment.Stacks); small ones are one launch
// of products of any sizes, and all sums over rows are one launch with those of losses.
//
// The gradients of a weight that is used several times are one product (Merge), whose operands are members of one buffer
// (device.Part) and are summed over.
//
// # Images
//
// Convolutions and their gradients are products in float32 at each precision, with tiles of their
// own (cu/conv.cu). The matrix of windows is never written: blocks read their parts of it from the
// images. The gradient of images has a product for each remainder of a pixel's place modulo the
// stride, so that nothing is multiplied by zeros but padding. The sum of the gradient of weights
// goes over all places of all images and is divided into enough parts to fill the card, which a
// second launch adds in order. Pooling has a thread for each number of the result (cu/pool.cu), and
// images that come as bytes become numbers first, a word of four by a thread (cu/bytes.cu).
//
// # Speed
//
// All kernels have run on an H100 (docs/evidence/gpu.md). Occupancy, bank conflicts and rates in the
// sources' comments are estimates made before, unless they say that they were measured.
//
// # Conventions
//
// Matrices are row-major float32, [members, rows, columns]. Sizes are 32-bit integers; products of
// sizes are computed in 64 bits. A kernel accepts every size, including zero; recipes launch
// nothing for results without elements. Kernels over elements loop with the grid's stride, and
// their result may be in the memory of an operand of the same size; any other result has its own
// memory. Names of kernels are unique over all files; a file's first line names the architectures
// for which it is compiled.
//
// `go generate` needs clang-19 and nothing of CUDA's. Package gen's tests check that the committed
// files are up to date.
package kernel

//go:generate go run ./gen -cu cu -ptx ptx
