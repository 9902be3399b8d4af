//go:build !nogpu && (amd64 || arm64)

package driver

import "fmt"

// second is the stream for work beside that of the first one.
type second struct {
	first, stream uintptr
	event         uintptr // that one stream records and the other one waits for
	busy          bool    // it may have work
	forked        bool    // in the graph that is being captured
}

const eventWithoutTime = 2 // CU_EVENT_DISABLE_TIMING

// openSecond creates the second stream.
func (c *nativeContext) openSecond() result {
	s := &c.second
	s.first = c.stream
	r := c.do(cuStreamCreate, at(&c.cells.handle), nonBlockingStream)
	if r != success {
		return r
	}
	s.stream = c.cells.handle
	r = c.do(cuEventCreate, at(&c.cells.handle), eventWithoutTime)
	s.event = c.cells.handle
	return r
}

func (c *nativeContext) Beside(enqueue func() error) error {
	const doing = "begin work beside other work"
	if err := c.Enter(doing, true); err != nil {
		return err
	}
	err := c.fork(doing)
	c.Leave() // enqueue's calls enter on their own
	if err != nil {
		return err
	}
	c.stream = c.second.stream
	defer func() { c.stream, c.second.busy = c.second.first, true }()
	return enqueue()
}

// fork makes the second stream wait for what the first one has had so far.
func (c *nativeContext) fork(doing string) error {
	s := &c.second
	if c.stream == s.stream {
		return fmt.Errorf("%s: it would be beside such work itself", doing)
	}
	s.forked = c.Capturing
	return c.follow(doing, s.stream, s.first)
}

// join makes the end of a graph that is being captured wait for the work beside it, without which
// there is no graph.
func (c *nativeContext) join(doing string) error {
	if !c.second.forked {
		return nil
	}
	c.second.forked = false
	return c.follow(doing, c.second.first, c.second.stream)
}

// follow makes what a stream gets from now on wait for what another one has.
func (c *nativeContext) follow(doing string, stream, other uintptr) error {
	r := c.do(cuEventRecord, c.second.event, other)
	if r == success {
		r = c.do(cuStreamWaitEvent, stream, c.second.event, 0)
	}
	return c.check(doing, r)
}
