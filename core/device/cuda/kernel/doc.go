// Package kernel holds what an NVIDIA GPU runs: kernels in CUDA C (cu), the PTX
// that clang makes of them (ptx, committed and embedded, so that neither clang
// nor CUDA's toolkit is needed to build or to run), and recipes, which say of
// each device.Instr which kernels it becomes, over which grid, on which memory.
//
// Modules gives the PTX of a card, Lower the launches of an instruction, Segments
// those of all instructions of a program, small ones together, and Finish those of
// its end: checks, optimiser, averages; or for a program that is a device.Routine, that.
// Nothing here talks to a driver: the package is text and arithmetic, and every kernel
// is run by the PTX interpreter in tests and compared with the plain-Go result.
//
// # Numbers
//
// Every sum has a fixed order, that depends on the operands' shapes and on the
// Target alone: no floating-point atomics, no order of arrival, no number of
// processors. The same program on the same numbers gives the same bits, on every
// card that is served by the same modules. Functions (exp, tanh, …) are the
// polynomials of the CPU's kernels, not a device library, good to 4 units in the last
// place; sums over rows, columns and tensors are in float64. Random numbers are those
// of package rng to the last bit, normal ones too: their float64 arithmetic has the
// same roundings.
//
// # Why chains
//
// An update of small networks is some thirty launches of about two microseconds each,
// whatever they do. Most of them do next to nothing, row by row: sample an action, put
// it beside the observation; the least of two critics, the target, the slope of the
// loss. A chain is a table of such steps that one launch goes through, each block with
// rows of its own, so that no step waits for other blocks. What works element by element
// on the result of a product is done in the product's own kernel.
//
// # Matrix products
//
// A product has one of three layouts and is divided by a rule on paper (tile.go;
// TestDivisions shows what it gives for the networks in use): float32 tiles down to
// 16×32, of which a layer at batch 256 makes enough for all multiprocessors; with TF32
// or BF16, on cards from 8.0 on, tensor cores for every product of at least 2²⁶
// multiplications a member whose three sizes are 32 and more. So the networks of
// actors and critics at their usual widths stay exact, and the denoiser and its
// sampling get the precision asked for. Where tiles are too few for the sum's length,
// the sum is divided and a second launch adds the parts in order.
//
// # Images
//
// Convolutions, their gradients and pooling have their plain form alone (cu/conv.cu): a
// thread has a number of the result and reads the images where they lie, in float32 at
// each precision. The gradient of weights is summed in a fixed number of parts of the
// batch, which a second launch adds in order.
//
// No kernel here has been run on a GPU yet: what they compute is proved by the
// interpreter, how fast they are is paper. Occupancy, bank conflicts and rates in the
// sources' comments are such estimates.
//
// # Conventions
//
// Matrices are row-major float32, [members, rows, columns]. Sizes are 32-bit
// integers, products of sizes are taken in 64 bits. A kernel accepts every size,
// zero included; recipes launch nothing for results without elements. Kernels over
// elements loop with the grid's stride, and may be given a result that stands in
// the memory of an operand of the same size; any other result has its own. Names of kernels are unique over all
// files; a file's first line names the architectures that it is compiled for.
//
// `go generate` needs clang-19 and nothing of CUDA's. Package gen's tests hold that
// the committed files are what it writes.
package kernel

//go:generate go run ./gen -cu cu -ptx ptx
