//go:build !nogpu && (amd64 || arm64)

package driver

import (
	"bytes"
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// nativeModule is PTX compiled by the driver.
type nativeModule struct {
	context    *nativeContext
	handle     uintptr
	signatures map[string]Signature
}

// nativeFunction is one kernel of a module.
type nativeFunction struct {
	context   *nativeContext
	name      string
	handle    uintptr
	signature Signature
	resources Resources
	allowed   uint32 // bytes of dynamic shared memory that it is currently allowed
}

// CUjit_option
const (
	jitInfoLog      = 3
	jitInfoLogSize  = 4
	jitErrorLog     = 5
	jitErrorLogSize = 6
)

// jit holds the options of a compilation and the buffers for the compiler's messages.
type jit struct {
	options [4]int32
	values  [4]uintptr
	info    [8 << 10]byte
	failure [8 << 10]byte
}

//go:noinline
func newJIT() *jit {
	j := &jit{options: [4]int32{jitInfoLog, jitInfoLogSize, jitErrorLog, jitErrorLogSize}}
	j.values = [4]uintptr{at(&j.info), uintptr(len(j.info)), at(&j.failure), uintptr(len(j.failure))}
	return j
}

// said returns what the compiler wrote, in one line.
func said(log []byte) string {
	text, _, _ := bytes.Cut(log, []byte{0})
	return strings.Join(strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

func (c *nativeContext) Load(text string) (Module, error) {
	const doing = "load kernels"
	if err := c.Enter(doing, false); err != nil {
		return nil, err
	}
	defer c.Leave()
	if err := Accepts(text, c.driver.version, c.info); err != nil {
		return nil, err
	}
	all, err := Signatures(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	image, j := cString(text), newJIT()
	done := c.announce()
	r := c.do(cuModuleLoadDataEx, at(&c.cells.handle), at(&image[0]), uintptr(len(j.options)), at(&j.options), at(&j.values))
	done()
	runtime.KeepAlive(image)
	runtime.KeepAlive(j)
	switch {
	case r == invalidPTX:
		return nil, fmt.Errorf("%s: the driver's compiler refuses them: %s", doing, said(j.failure[:]))
	case r != success && said(j.failure[:]) != "":
		return nil, c.check(doing+" ("+said(j.failure[:])+")", r)
	case r != success:
		return nil, c.check(doing, r)
	}
	m := &nativeModule{context: c, handle: c.cells.handle, signatures: all}
	c.modules = append(c.modules, m)
	return m, nil
}

// patience is how long a compilation may take before a message reports it. Loading kernels from the
// cache takes much less.
const patience = 300 * time.Millisecond

// announce reports, if it takes a while, that kernels are being compiled, and how long that took.
// The returned function ends the announcement.
func (c *nativeContext) announce() (done func()) {
	say := c.driver.options.Say
	if say == nil {
		return func() {}
	}
	start, said := time.Now(), make(chan struct{})
	timer := time.AfterFunc(patience, func() {
		defer close(said)
		say(fmt.Sprintf("%s: compiling kernels, once for each driver", c.info.Name))
	})
	return func() {
		if timer.Stop() {
			return
		}
		<-said
		say(fmt.Sprintf("%s: kernels compiled in %.1f s", c.info.Name, time.Since(start).Seconds()))
	}
}

// Function attributes
const (
	functionThreads   = 0 // CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
	functionShared    = 1 // CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
	functionLocal     = 3 // CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
	functionRegisters = 4 // CU_FUNC_ATTRIBUTE_NUM_REGS
	functionDynamic   = 8 // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
)

func (m *nativeModule) Function(name string) (Function, error) {
	doing := "find kernel " + name
	c := m.context
	if err := c.Enter(doing, false); err != nil {
		return nil, err
	}
	defer c.Leave()
	s, known := m.signatures[name]
	if !known {
		return nil, fmt.Errorf("%s: the PTX has no such .entry", doing)
	}
	if len(s.params) > maxArgs {
		return nil, fmt.Errorf("%s: it has %d parameters, and %d are possible", doing, len(s.params), maxArgs)
	}
	text := cString(name)
	err := c.check(doing, c.do(cuModuleGetFunction, at(&c.cells.handle), m.handle, at(&text[0])))
	runtime.KeepAlive(text)
	if err != nil {
		return nil, err
	}
	f := &nativeFunction{context: c, name: name, handle: c.cells.handle, signature: s}
	for _, a := range []struct {
		attribute uintptr
		into      *int
	}{
		{functionShared, &f.resources.Shared}, {functionRegisters, &f.resources.Registers},
		{functionLocal, &f.resources.Local}, {functionThreads, &f.resources.Threads},
	} {
		if err := c.check(doing, c.do(cuFuncGetAttribute, at(&c.cells.number), a.attribute, f.handle)); err != nil {
			return nil, err
		}
		*a.into = int(c.cells.number)
	}
	f.allowed = sharedWithoutAsk - min(sharedWithoutAsk, uint32(f.resources.Shared))
	return f, nil
}

func (f *nativeFunction) Name() string { return f.name }

func (f *nativeFunction) Resources() Resources { return f.resources }

func (c *nativeContext) Launch(function Function, grid, block [3]uint32, shared uint32, args ...Arg) error {
	f, ours := function.(*nativeFunction)
	if !ours || f.context != c {
		return fmt.Errorf("launch %s: the kernel was loaded by another context", function.Name())
	}
	if err := c.Enter(f.name, true); err != nil {
		return err
	}
	defer c.Leave()
	if err := f.signature.Check(f.name, &c.info, grid, block, uint32(f.resources.Shared)+shared, args); err != nil {
		return err
	}
	if shared > f.allowed {
		if r := c.do(cuFuncSetAttribute, f.handle, functionDynamic, uintptr(shared)); r != success {
			return c.check("allow "+f.name+" more shared memory", r)
		}
		f.allowed = shared
	}
	for i, a := range args { // little endian: the low bytes come first
		c.values[i] = a.Bits
		c.params[i] = at(&c.values[i])
	}
	r := c.do(cuLaunchKernel, f.handle,
		uintptr(grid[0]), uintptr(grid[1]), uintptr(grid[2]), uintptr(block[0]), uintptr(block[1]), uintptr(block[2]),
		uintptr(shared), c.stream, at(&c.params), 0)
	if r != success {
		return c.check("launch "+f.name, r)
	}
	return nil
}

// nativeGraph is captured work.
type nativeGraph struct {
	context *nativeContext
	exec    uintptr
	closed  bool
}

func (c *nativeContext) Capture(record func() error) (Graph, error) {
	const doing = "capture a graph"
	// One thread begins, fills and ends a capture.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := c.Enter(doing, false); err != nil {
		return nil, err
	}
	if err := c.check(doing, c.do(cuStreamBeginCapture, c.stream, captureThisThread)); err != nil {
		c.Leave()
		return nil, err
	}
	c.Capturing, c.Broken = true, nil
	c.Leave() // record's calls enter on their own
	err := record()
	if err := c.EnterAnyhow(doing); err != nil {
		return nil, err
	}
	defer c.Leave()
	joined := c.join(doing)
	c.Capturing = false
	// A capture must be ended in any case; its graph is nil if the capture failed.
	r := c.do(cuStreamEndCapture, c.stream, at(&c.cells.handle))
	graph := c.cells.handle
	if err == nil {
		err = cmp.Or(c.Broken, joined)
	}
	if err == nil {
		err = c.check(doing, r)
	} else {
		err = fmt.Errorf("%s: %w", doing, err)
	}
	if r == success {
		defer c.do(cuGraphDestroy, graph)
	}
	if err != nil {
		return nil, err
	}
	return c.instantiate(graph)
}

// instantiate turns a graph into one that can be launched.
func (c *nativeContext) instantiate(graph uintptr) (Graph, error) {
	const doing = "make a graph ready"
	var r result
	if c.driver.flagged {
		r = c.do(cuGraphInstantiate, at(&c.cells.handle), graph, 0)
	} else { // the node in error and a log, which is not asked for, and its size
		r = c.do(cuGraphInstantiate, at(&c.cells.handle), graph, 0, 0, 0)
	}
	if r == outOfMemory {
		return nil, c.outOfMemory(0)
	}
	if err := c.check(doing, r); err != nil {
		return nil, err
	}
	g := &nativeGraph{context: c, exec: c.cells.handle}
	if c.driver.addresses[cuGraphUpload] != 0 { // otherwise the first launch does it
		if err := c.check(doing, c.do(cuGraphUpload, g.exec, c.stream)); err != nil {
			c.do(cuGraphExecDestroy, g.exec) // it is in no list yet
			return nil, err
		}
	}
	c.graphs = append(c.graphs, g)
	return g, nil
}

func (g *nativeGraph) Launch() error {
	const doing = "launch a graph"
	c := g.context
	if err := c.Enter(doing, false); err != nil {
		return err
	}
	defer c.Leave()
	if g.closed {
		return fmt.Errorf("%s: it is closed", doing)
	}
	return c.check(doing, c.do(cuGraphLaunch, g.exec, c.stream))
}

func (g *nativeGraph) Close() error {
	c := g.context
	if c.Closed || g.closed {
		return nil
	}
	const doing = "close a graph"
	if err := c.Enter(doing, false); err != nil {
		return err
	}
	defer c.Leave()
	if err := c.drain(); err != nil { // it may still run
		return err
	}
	g.closed = true
	c.graphs = slices.DeleteFunc(c.graphs, func(o *nativeGraph) bool { return o == g })
	return c.check(doing, c.do(cuGraphExecDestroy, g.exec))
}
