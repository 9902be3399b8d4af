package emulator

import (
	"fmt"
	"hash/maphash"
	"slices"

	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/testing/ptx"
)

// step is a piece of work in a stream or a graph. Exactly one of its halves is
// set: a launch, or a copy of bytes.
type step struct {
	by string // the place in the program that put it there

	kernel        *function
	grid, block   [3]uint32
	shared        uint32
	params        []byte
	from, to      driver.Ptr // device addresses of a copy; 0: the host's side is in host
	host          []byte     // pinned, or a copy of our own
	bytes         int
	pinned        bool   // host can be changed by others
	mark          uint64 // hash of the pinned host memory when the step was put there
	marked, upped bool
	beside        bool // in the second stream, or in the branch of a graph
}

// stream is work that is not done yet: of the second stream's, each piece at the place where it was put.
type stream struct {
	work []step
	late bool // whether the second stream's work is done as late as possible, or as early
}

var seed = maphash.MakeSeed()

// put adds a step to the stream.
func (s *stream) put(w step) {
	switch {
	case w.host == nil || w.kernel != nil:
	case w.upped:
		if w.pinned {
			w.mark, w.marked = maphash.Bytes(seed, w.host), true
		}
	default:
		for i := range w.host { // must not be read before Synchronize
			w.host[i] = 0xff
		}
	}
	s.work = append(s.work, w)
}

// run does all work, that of the second stream now as early and now as late as possible. After an
// error the rest is dropped.
func (s *stream) run(m *memory) error {
	work := s.work
	s.work = s.work[:0]
	if slices.ContainsFunc(work, func(w step) bool { return w.beside }) {
		s.late = !s.late
	}
	if s.late {
		work = late(work)
	}
	for i := range work {
		if err := work[i].do(m); err != nil {
			return fmt.Errorf("%w (put into the stream by %s)", err, work[i].by)
		}
	}
	return nil
}

// late is the order in which work beside other work comes after it.
func late(work []step) (ordered []step) {
	var beside []step
	for _, w := range work {
		if w.beside {
			beside = append(beside, w)
		} else {
			ordered = append(ordered, w)
		}
	}
	return append(ordered, beside...)
}

// Beside implements driver.Context.
func (c *gpuContext) Beside(enqueue func() error) error {
	const doing = "begin work beside other work"
	if err := c.Enter(doing, true); err != nil {
		return err
	}
	var err error
	for _, call := range []string{"cuEventRecord", "cuStreamWaitEvent"} {
		if err == nil {
			err = c.injected(doing, call)
		}
	}
	if c.beside {
		err = fmt.Errorf("%s: it would be beside such work itself", doing)
	}
	c.Leave()
	if err != nil {
		return err
	}
	c.beside = true
	defer func() { c.beside = false }()
	return enqueue()
}

func (w *step) do(m *memory) error {
	if w.kernel != nil {
		return w.kernel.run(m, w.grid, w.block, w.shared, w.params)
	}
	switch {
	case w.host == nil:
		from, err := m.device.Bytes(uint64(w.from), w.bytes)
		if err != nil {
			return fmt.Errorf("copy: read: %w", err)
		}
		to, err := m.device.Bytes(uint64(w.to), w.bytes)
		if err != nil {
			return fmt.Errorf("copy: write: %w", err)
		}
		copy(to, from)
	case w.upped:
		to, err := m.device.Bytes(uint64(w.to), w.bytes)
		if err != nil {
			return fmt.Errorf("upload: write: %w", err)
		}
		if w.marked && maphash.Bytes(seed, w.host) != w.mark {
			return fmt.Errorf("upload: pinned memory was changed before Synchronize: %d bytes for %#x", w.bytes, w.to)
		}
		copy(to, w.host)
	default:
		from, err := m.device.Bytes(uint64(w.from), w.bytes)
		if err != nil {
			return fmt.Errorf("download: read: %w", err)
		}
		copy(w.host, from)
	}
	return nil
}

// submit puts a step into the stream or into the graph that is being captured.
func (c *gpuContext) submit(doing string, w step) error {
	w.by, w.beside = caller(), c.beside
	if !c.Capturing {
		c.stream.put(w)
		return nil
	}
	if w.host != nil && !w.pinned {
		return c.Pageable(doing)
	}
	c.record.steps = append(c.record.steps, w)
	return nil
}

func (c *gpuContext) Upload(dst driver.Ptr, src []byte) error {
	const doing = "upload"
	if err := c.Enter(doing, true); err != nil {
		return err
	}
	defer c.Leave()
	if len(src) == 0 {
		return nil
	}
	if err := c.memory.check(dst, len(src)); err != nil {
		return fmt.Errorf("%s: write: %w", doing, err)
	}
	if err := c.injected(doing, "cuMemcpyHtoDAsync"); err != nil {
		return err
	}
	w := step{to: dst, host: src, bytes: len(src), upped: true, pinned: c.memory.isPinned(src)}
	if !w.pinned && !c.Capturing {
		w.host = slices.Clone(src)
	}
	return c.submit(doing, w)
}

func (c *gpuContext) Download(dst []byte, src driver.Ptr) error {
	const doing = "download"
	if err := c.Enter(doing, true); err != nil {
		return err
	}
	defer c.Leave()
	if len(dst) == 0 {
		return nil
	}
	if err := c.memory.check(src, len(dst)); err != nil {
		return fmt.Errorf("%s: read: %w", doing, err)
	}
	if err := c.injected(doing, "cuMemcpyDtoHAsync"); err != nil {
		return err
	}
	return c.submit(doing, step{from: src, host: dst, bytes: len(dst), pinned: c.memory.isPinned(dst)})
}

func (c *gpuContext) Copy(dst, src driver.Ptr, bytes int) error {
	const doing = "copy"
	if err := c.Enter(doing, true); err != nil {
		return err
	}
	defer c.Leave()
	if bytes == 0 {
		return nil
	}
	if err := c.memory.check(src, bytes); err != nil {
		return fmt.Errorf("%s: read: %w", doing, err)
	}
	if err := c.memory.check(dst, bytes); err != nil {
		return fmt.Errorf("%s: write: %w", doing, err)
	}
	if dst < src+driver.Ptr(bytes) && src < dst+driver.Ptr(bytes) {
		return fmt.Errorf("%s: %d bytes from %#x to %#x overlap", doing, bytes, src, dst)
	}
	if err := c.injected(doing, "cuMemcpyDtoDAsync"); err != nil {
		return err
	}
	return c.submit(doing, step{from: src, to: dst, bytes: bytes})
}

func (c *gpuContext) Launch(f driver.Function, grid, block [3]uint32, shared uint32, args ...driver.Arg) error {
	doing := "launch " + f.Name()
	if err := c.Enter(doing, true); err != nil {
		return err
	}
	defer c.Leave()
	k, ours := f.(*function)
	if !ours || k.context != c {
		return fmt.Errorf("%s: the kernel was loaded by another context", doing)
	}
	if err := k.signature.Check(k.Name(), &c.info, grid, block, shared, args); err != nil {
		return err
	}
	if err := c.injected(doing, "cuLaunchKernel"); err != nil {
		return err
	}
	return c.submit(doing, step{kernel: k, grid: grid, block: block, shared: shared, params: pack(args)})
}

// pack lays out arguments one after another as a kernel expects them.
func pack(args []driver.Arg) []byte {
	var all ptx.Pack
	for _, a := range args {
		all = all.Add(a.Bits, a.Size)
	}
	return all
}

// graph is captured work.
type graph struct {
	context *gpuContext
	by      string
	steps   []step
	closed  bool
	late    bool // as of the stream, at the last launch
}

func (c *gpuContext) Capture(record func() error) (driver.Graph, error) {
	const doing = "capture a graph"
	if err := c.Enter(doing, false); err != nil {
		return nil, err
	}
	if err := c.injected(doing, "cuStreamBeginCapture"); err != nil {
		c.Leave()
		return nil, err
	}
	g := &graph{context: c, by: caller()}
	c.record, c.Capturing, c.Broken = g, true, nil
	c.Leave() // record's calls call Enter themselves
	err := record()
	if err := c.EnterAnyhow(doing); err != nil {
		return nil, err
	}
	defer c.Leave()
	c.Capturing = false
	if err == nil {
		err = c.Broken
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	for _, call := range []string{"cuStreamEndCapture", "cuGraphInstantiate"} {
		if err := c.injected(doing, call); err != nil {
			return nil, err
		}
	}
	c.graphs = append(c.graphs, g)
	return g, nil
}

func (g *graph) Launch() error {
	const doing = "launch a graph"
	c := g.context
	if err := c.Enter(doing, false); err != nil {
		return err
	}
	defer c.Leave()
	if g.closed {
		return fmt.Errorf("%s: it is closed", doing)
	}
	if err := c.injected(doing, "cuGraphLaunch"); err != nil {
		return err
	}
	steps := g.steps
	if g.late = !g.late; g.late {
		steps = late(steps)
	}
	for _, w := range steps {
		w.beside = c.beside
		if w.host != nil && !c.memory.isPinned(w.host) {
			return fmt.Errorf("%s: pinned memory that %s gave it has been freed", doing, w.by)
		}
		c.stream.put(w)
	}
	return nil
}

func (g *graph) Close() error {
	c := g.context
	if c.Closed || g.closed {
		return nil
	}
	if err := c.Enter("close a graph", false); err != nil {
		return err
	}
	defer c.Leave()
	if err := c.drain(); err != nil {
		return err
	}
	if err := c.injected("close a graph", "cuGraphExecDestroy"); err != nil {
		return err
	}
	g.closed = true
	c.graphs = slices.DeleteFunc(c.graphs, func(o *graph) bool { return o == g })
	return nil
}
