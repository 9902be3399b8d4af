package ptx

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// DefaultSteps is how many instructions a warp may run, so that an endless loop ends
// within seconds.
const DefaultSteps = 1 << 26

// Launch says how a kernel runs.
type Launch struct {
	Grid, Block [3]uint32
	Shared      uint32 // bytes of dynamic shared memory
	Params      []byte // laid out as by Pack
	Check       Check
	Steps       int64 // instructions a warp may run; 0: DefaultSteps
	Workers     int   // blocks that run at the same time; 0: GOMAXPROCS
}

// launch is one running launch.
type launch struct {
	kernel      *Kernel
	memory      *Memory
	grid, block [3]uint32
	shared      uint32
	params      []byte
	check       Check
	steps       int64
}

// Run runs the kernel over a grid of blocks, with the checks of the memory. shared is the
// number of bytes of dynamic shared memory, params the parameters as laid out by Pack. An
// error of the kernel is a *Fault; memory keeps what was written up to there.
func (k *Kernel) Run(mem *Memory, grid, block [3]uint32, shared uint32, params []byte) error {
	_, err := k.Launch(mem, Launch{Grid: grid, Block: block, Shared: shared, Params: params, Check: mem.Check, Steps: mem.Steps})
	return err
}

// The most bytes of shared memory that a block may have on any card, and the most threads.
const (
	maxShared  = 227 << 10
	maxThreads = 1024
)

// Launch is Run with all options. It returns the number of instructions that threads have
// run.
func (k *Kernel) Launch(mem *Memory, o Launch) (int64, error) {
	l := &launch{kernel: k, memory: mem, grid: o.Grid, block: o.Block, shared: o.Shared, params: o.Params, check: o.Check, steps: o.Steps}
	if l.steps == 0 {
		l.steps = DefaultSteps
	}
	if err := l.validate(); err != nil {
		return 0, fmt.Errorf("launch kernel %s: %w", k.Name, err)
	}
	blocks := int64(o.Grid[0]) * int64(o.Grid[1]) * int64(o.Grid[2])
	workers := o.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	if k.dependent {
		l.check.Blocks = false
	}
	if k.dependent || l.check.Blocks {
		workers = 1
	}
	mem.launches++
	return l.run(blocks, int(min(int64(workers), blocks)))
}

func (l *launch) validate() error {
	k := l.kernel
	for d := range 3 {
		if l.grid[d] == 0 || l.block[d] == 0 || d > 0 && l.grid[d] > 65535 || l.grid[d] > 1<<31-1 {
			return fmt.Errorf("a grid of %s blocks of %s threads", triple(l.grid), triple(l.block))
		}
	}
	threads := uint64(l.block[0]) * uint64(l.block[1]) * uint64(l.block[2])
	switch {
	case threads > maxThreads || l.block[2] > 64:
		return fmt.Errorf("blocks of %s threads: at most %d, and 64 in z", triple(l.block), maxThreads)
	case k.MaxThreads > 0 && threads > uint64(k.MaxThreads):
		return fmt.Errorf("blocks of %d threads: it was compiled for at most %d", threads, k.MaxThreads)
	case k.exact[0] > 0 && l.block != k.exact:
		return fmt.Errorf("blocks of %s threads: it was compiled for %s", triple(l.block), triple(k.exact))
	case uint64(k.Shared)+uint64(l.shared) > maxShared:
		return fmt.Errorf("%d bytes of shared memory: at most %d", uint64(k.Shared)+uint64(l.shared), maxShared)
	case len(l.params) != k.ParamBytes:
		return fmt.Errorf("%d bytes of parameters: it has %d", len(l.params), k.ParamBytes)
	}
	return nil
}

// place returns the indices of a block from its number.
func (l *launch) place(i int64) [3]uint32 {
	x, y := int64(l.grid[0]), int64(l.grid[1])
	return [3]uint32{uint32(i % x), uint32(i / x % y), uint32(i / x / y)}
}

// run runs the blocks on some workers. On every machine, the error is that of the first
// block in order that fails.
func (l *launch) run(blocks int64, workers int) (int64, error) {
	var (
		next, count atomic.Int64
		failed      atomic.Int64 // the first block that failed
		mu          sync.Mutex
		first       error
		wg          sync.WaitGroup
	)
	failed.Store(blocks)
	work := func() {
		b := newBlock(l)
		for {
			i := next.Add(1) - 1
			if i >= blocks || i > failed.Load() {
				return
			}
			b.number = uint32(i + 1)
			n, err := b.run(l.place(i))
			count.Add(n)
			if err != nil {
				mu.Lock()
				if i < failed.Load() {
					failed.Store(i)
					first = err
				}
				mu.Unlock()
			}
		}
	}
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return count.Load(), first
}
