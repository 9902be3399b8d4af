// Package kernel holds what an NVIDIA GPU runs: kernels in CUDA C (cu), the PTX
// that clang makes of them (ptx, committed and embedded, so that neither clang
// nor CUDA's toolkit is needed to build or to run), and recipes, which say of
// each device.Instr which kernels it becomes, over which grid, on which memory.
//
// Modules gives the PTX of a card, Lower the launches of an instruction. Nothing
// here talks to a driver: the package is text and arithmetic, and every kernel is
// run by the PTX interpreter in tests and compared with the plain-Go result.
//
// # Numbers
//
// Every sum has a fixed order, that depends on the operands' shapes and on the
// Target alone: no floating-point atomics, no order of arrival, no number of
// processors. The same program on the same numbers gives the same bits, on every
// card that is served by the same modules. Functions (exp, tanh, …) are the
// polynomials of the CPU's kernels, not a device library.
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
// `go generate` needs clang-19 and nothing of CUDA's. TestPTXIsWhatTheSourcesGive
// holds that the committed files are what it writes.
package kernel

//go:generate go run ./gen -cu cu -ptx ptx
