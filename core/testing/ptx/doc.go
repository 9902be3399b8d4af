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
// missing fence.proxy.async or fence.mbarrier_init.
//
// cp.async.bulk reads its source and delivers it, and counts its bytes, only when a thread
// waits for the phase of its mbarrier that is not complete (try_wait, test_wait). A wait
// that is not over returns false and lets the other warps run; if all warps only wait, the
// mbarrier is one that nobody completes. Errors are also more arrivals in a phase than it
// expects, an mbarrier whose bytes were overwritten, and a kernel that ends with a copy that
// nobody waited for. With Check.Races, its destination must not be touched until it has
// arrived, nor read by a warp that has not waited for it, directly or through others, nor
// may a copy go where the readers of earlier data have not handed on, by arriving, that they
// are done.
//
// Two accesses to shared memory are ordered if one warp hands on to another between them:
// bar orders its participants, and an mbarrier those who arrived before those who waited for
// that phase. All lanes of a warp count as one there, so it is not found that a lane hands
// on what another lane of its warp still does, or reads what only another lane waited for.
// Neither is a thread found that waits for a phase of the right parity that is not the
// one it means, unless its accesses are wrong. With more than 32 mbarriers, waiting for one
// may count as waiting for another. Lanes of one warp that wait in a loop for other lanes of
// their warp to arrive may wait forever here. Without Check.Races, most of this shows only
// in wrong results.
//
// The parser is as strict as an assembler. An unknown opcode, modifier or type, one
// that the module's card lacks (.target), a register of the wrong size or kind, and an
// undeclared name are errors with their line. The known instructions are those that
// clang 19 emits for sm_70 and sm_80 and, from inline assembly, mma.sync with f32 sums,
// ldmatrix, cp.async, redux and the like, and for sm_90a wgmma of bf16 and tf32 with
// f32 sums and both operands in shared memory, k contiguous, in the layout with 128-byte
// swizzle, and for sm_90 mbarrier (init, arrive with and without expect_tx, try_wait and
// test_wait by parity, of the own block) and cp.async.bulk of one dimension from global to
// shared memory. Textures, recursion, calls through pointers, clusters, tensor maps, and
// other forms of wgmma, mbarrier and cp.async.bulk are not supported.
//
// # Numbers
//
// Integer instructions, conversions and the arithmetic of f32 (+ - * / fma sqrt
// rcp, all four roundings, .ftz, .sat), f16 and bf16 give the bits that a card
// gives; f64 rounds to nearest only. A NaN produced by arithmetic is 0x7fffffff.
// The approximations ex2, lg2, sin, cos, tanh, rcp, rsqrt, sqrt (.approx) and
// div (.approx, .full) are rounded correctly here, and only nearly so on a
// card: by the PTX ISA up to 2 units in the last place, 2^-20.9 absolute for
// sin and cos, 2^-11 relative for tanh. mma adds the exact products of 4 (tf32)
// or 8 (bf16, f16) columns to the sum so far and rounds to zero, much as was
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
