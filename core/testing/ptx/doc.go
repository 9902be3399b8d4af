// Package ptx runs PTX, the assembly language of NVIDIA's GPUs, on the CPU: it
// parses the text that clang generates from CUDA C and interprets it, so that the
// same kernels that run on a card can be tested on a machine without one.
//
// A kernel runs as on a card: a grid of blocks, warps of 32 lanes that diverge and
// reconverge, barriers, shared and local memory, shuffles, matrix instructions.
// Behaviour that a card leaves undefined is an error here if it can be detected: every
// access must lie in one live allocation and be aligned; the threads of a warp must meet
// at an instruction that needs them all, those of a block at the same barrier; a warp
// that never ends is stopped. On demand (Check), reads of unwritten memory, races in
// shared memory and conflicts between blocks in device memory are errors too. A *Fault
// names the kernel, the line of the PTX, block and thread.
//
// What a card may do early or late is done here at the worse time: cp.async
// delivers its data when the thread waits for it, and shared memory starts as NaN.
// wgmma reads its operands when it starts, delivers its sums when the warp waits for
// it, with NaN in the registers until then, and looks at its operands again: if their
// bytes have changed, the kernel has written them too early. With Check.Races every
// such write is an error, also one of the same bytes and one by cp.async. Errors are
// also a wgmma in a warp that never ran wgmma.fence, a kernel that ends with a wgmma
// that was not waited for, and warps of a warpgroup whose wgmmas differ. Not found: a
// wgmma.fence that is missing after other instructions wrote the accumulators, and a
// missing fence.proxy.async.
//
// Two accesses to shared memory are ordered if one warp hands on to another between them:
// bar orders its participants. All lanes of a warp count as one there, so it is not found
// that a lane hands on what another lane of its warp still does.
//
// The parser is as strict as an assembler. An unknown opcode, modifier or type, one
// that the module's card lacks (.target), a register of the wrong size or kind, and an
// undeclared name are errors with their line. The known instructions are those of the
// kernels in core/device/cuda/kernel: what clang 19 emits for sm_70 and sm_80 and, from
// inline assembly, mma.sync of bf16 and tf32 with f32 sums, cp.async and, for sm_90a, wgmma
// of bf16 and tf32 with f32 sums and both operands in shared memory, k contiguous, in the
// layout with 128-byte swizzle. A kernel that needs another one gets it here first.
//
// # Numbers
//
// Integer instructions, conversions and the arithmetic of f32 (+ - * / fma sqrt
// rcp, all four roundings, .ftz, .sat) give the bits that a card gives; f64 rounds to
// nearest only. A NaN produced by arithmetic is 0x7fffffff. mma adds the exact products
// of 4 (tf32) or 8 (bf16) columns to the sum so far and rounds to zero, much as was
// found for the A100 (Fasi et al. 2021); the ISA leaves the order open. wgmma does
// the same here, although a H100 may add more products before it rounds.
//
// # Scheduling
//
// The lanes of a warp that stand at one instruction run together, lowest
// address first. The warps of a block take turns. Blocks run on several
// workers, unless the kernel has atomics on global memory or ordered accesses: then
// they run one by one in order, so that a result never depends on the workers.
//
// # Speed
//
// Every instruction is decoded once and then runs over all lanes of a warp.
// Registers are packed by their lifetimes, so that those of a warp fit a cache. On one
// core (AMD EPYC) a tiled fp32 product runs 250 to 420 million thread instructions a
// second, or 150 million with the checks for races and unwritten reads (BenchmarkGemm).
// A wgmma of m64n256k16 takes 0.2 ms for its four warps, or 0.4 ms with these checks
// (BenchmarkWarpgroup).
package ptx
