// Package ptx runs PTX, the assembly language of NVIDIA's GPUs, on the CPU: it
// parses the text that clang makes of CUDA C and interprets it, so that the
// very kernels that a card is given are tested where there is none.
//
// A kernel runs as on a card: a grid of blocks, warps of 32 lanes that part and
// join again, barriers, shared and local memory, shuffles, matrix instructions.
// What a card leaves undefined is an error here where it can be seen: every
// access lies in one live allocation and is aligned; the threads of a warp meet
// at an instruction that needs them all, those of a block at the same barrier;
// a warp that never ends is stopped. On demand, reads of memory that nobody
// wrote and races in shared memory (Check) are errors too. A *Fault names the
// kernel, the line of the PTX, block and thread.
//
// The parser is as strict as an assembler: an opcode or a modifier that is not
// known, a register of the wrong size or sort, a name that was not declared are
// errors with their line.
//
// # Numbers
//
// Integer instructions, conversions and the arithmetic of f32 (+ - * / fma sqrt
// rcp, all four roundings, .ftz, .sat), f16 and bf16 give the bits that a card
// gives; f64 rounds to nearest only. A NaN that arithmetic makes is 0x7fffffff.
// The approximations ex2, lg2, sin, cos, tanh, rcp, rsqrt, sqrt (.approx) and
// div (.approx, .full) are rounded correctly here, and only nearly so on a
// card: by the PTX ISA up to 2 units in the last place, 2^-20.9 absolute for
// sin and cos, 2^-11 relative for tanh.
//
// # Scheduling
//
// The lanes of a warp that stand at one instruction run together, lowest
// address first. The warps of a block take turns. Blocks run on several
// workers, unless the kernel has atomics on global memory or ordered accesses:
// then one by one in order, so that a result never depends on the workers.
package ptx
