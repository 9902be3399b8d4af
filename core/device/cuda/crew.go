package cuda

import (
	"runtime"
	"sync"

	"pgrlab/core/device"
)

var _ device.Sharer = (*Device)(nil)

// crew is goroutines among which work of the host is divided: drawing and shifting frames, and
// copying what is large into pinned memory. They start with the first work and wait between works.
type crew struct {
	mu     sync.Mutex // held during a work
	work   func(part, parts int)
	start  []chan struct{} // of all parts but the last, which the caller does
	done   sync.WaitGroup
	closed bool
}

// mostParts bounds the parts of a work. With more of them, memory is the limit.
const mostParts = 16

// Share implements device.Sharer.
func (d *Device) Share(work func(part, parts int)) func() {
	return func() { d.crew.do(work) }
}

// do has all parts of a work done and waits for them.
func (c *crew) do(work func(part, parts int)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.start == nil && !c.closed {
		c.begin(min(runtime.GOMAXPROCS(0), mostParts))
	}
	parts := len(c.start) + 1
	c.work = work
	c.done.Add(len(c.start))
	for _, start := range c.start {
		start <- struct{}{}
	}
	work(parts-1, parts)
	c.done.Wait()
	c.work = nil
}

func (c *crew) begin(parts int) {
	c.start = make([]chan struct{}, parts-1)
	for part := range c.start {
		start := make(chan struct{}, 1)
		c.start[part] = start
		go func() {
			for range start {
				c.work(part, parts)
				c.done.Done()
			}
		}()
	}
}

// close ends the goroutines. The caller does later works alone.
func (c *crew) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, start := range c.start {
		close(start)
	}
	c.start, c.closed = nil, true
}

// shared is the size from which a copy is divided, in bytes: that of some hundred microseconds.
const shared = 1 << 20

// copying is a copy that a crew does. The zero value copies nothing.
type copying struct {
	to, from []byte
	share    func(part, parts int) // of this copying, so that do allocates nothing
}

// do copies from to to.
func (c *copying) do(crew *crew, to, from []byte) {
	if len(from) < shared {
		copy(to, from)
		return
	}
	if c.share == nil {
		c.share = c.part
	}
	c.to, c.from = to, from
	crew.do(c.share)
	c.to, c.from = nil, nil
}

// part copies one of several parts.
func (c *copying) part(part, parts int) {
	n := len(c.from)
	begin, end := n*part/parts, n*(part+1)/parts
	copy(c.to[begin:end], c.from[begin:end])
}
