package dry

import (
	"fmt"

	"pgrlab/core/device/cuda/driver"
)

// Counts are what was put into a stream.
type Counts struct {
	Launches, Graphs, Waits int
	Up, Down                int // bytes copied to the device and from it
}

func (c Counts) plus(o Counts) Counts {
	return Counts{c.Launches + o.Launches, c.Graphs + o.Graphs, c.Waits + o.Waits, c.Up + o.Up, c.Down + o.Down}
}

func (c Counts) minus(o Counts) Counts {
	return Counts{c.Launches - o.Launches, c.Graphs - o.Graphs, c.Waits - o.Waits, c.Up - o.Up, c.Down - o.Down}
}

// context is a GPU without memory: it hands out addresses, executes nothing, and counts. What is
// downloaded from it is whatever the host's memory had.
type context struct {
	driver.Calls
	info    driver.Info
	next    driver.Ptr
	sizes   map[driver.Ptr]uint64
	used    uint64
	all     Counts
	capture *Counts // of the graph being captured
	busy    bool    // there is something to wait for
}

// alignment is that of cuMemAlloc.
const alignment = 256

func newContext(info driver.Info) *context {
	return &context{info: info, next: alignment, sizes: map[driver.Ptr]uint64{}}
}

func (c *context) Info() driver.Info { return c.info }

func (c *context) Load(string) (driver.Module, error) { return module{}, nil }

func (c *context) Alloc(bytes int) (driver.Ptr, error) {
	size := uint64(max(1, bytes)+alignment-1) / alignment * alignment
	if free := c.info.Memory - c.used; size > free {
		return 0, &driver.OutOfMemory{What: "GPU", Asked: size, Free: free, Total: c.info.Memory}
	}
	at := c.next
	c.next, c.used, c.sizes[at] = c.next+driver.Ptr(size), c.used+size, size
	return at, nil
}

func (c *context) Free(p driver.Ptr) error {
	size, taken := c.sizes[p]
	if !taken && p != 0 {
		return fmt.Errorf("free GPU memory: %#x was not allocated", p)
	}
	delete(c.sizes, p)
	c.used -= size
	return nil
}

func (c *context) AllocHost(bytes int) ([]byte, error) { return make([]byte, bytes), nil }

func (c *context) FreeHost([]byte) error { return nil }

func (c *context) count(of Counts) {
	to := &c.all
	if c.capture != nil {
		to = c.capture
	} else {
		c.busy = true
	}
	*to = to.plus(of)
}

func (c *context) Upload(_ driver.Ptr, src []byte) error {
	c.count(Counts{Up: len(src)})
	return nil
}

func (c *context) Download(dst []byte, _ driver.Ptr) error {
	c.count(Counts{Down: len(dst)})
	return nil
}

func (c *context) Copy(driver.Ptr, driver.Ptr, int) error { return nil }

func (c *context) Launch(driver.Function, [3]uint32, [3]uint32, uint32, ...driver.Arg) error {
	c.count(Counts{Launches: 1})
	return nil
}

func (c *context) Capture(record func() error) (driver.Graph, error) {
	g := &graph{context: c}
	c.capture = &g.counts
	defer func() { c.capture = nil }()
	g.counts.Graphs = 1
	return g, record()
}

func (c *context) Beside(enqueue func() error) error { return enqueue() }

// Synchronize waits for what was put into the streams since the last wait.
func (c *context) Synchronize() error {
	if c.busy {
		c.count(Counts{Waits: 1})
		c.busy = false
	}
	return nil
}

func (c *context) Memory() (free, total uint64, err error) {
	return c.info.Memory - c.used, c.info.Memory, nil
}

func (c *context) Close() error { return nil }

type graph struct {
	context *context
	counts  Counts
}

func (g *graph) Launch() error {
	g.context.count(g.counts)
	return nil
}

func (*graph) Close() error { return nil }

type module struct{}

func (module) Function(name string) (driver.Function, error) { return function(name), nil }

type function string

func (f function) Name() string { return string(f) }

func (function) Resources() driver.Resources { return driver.Resources{} }
