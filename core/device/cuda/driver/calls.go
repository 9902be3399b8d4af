package driver

import (
	"fmt"
	"sync/atomic"
)

// calls watches the calls of a context: one at a time, none when it is closed or lost,
// and while a graph is captured only such as a graph can hold.
type calls struct {
	busy      atomic.Bool // a call is under way
	closed    bool
	lost      *LostDevice
	capturing bool
	broken    error // what the capture cannot hold, but was asked to
}

// enter begins a call. Those that a graph cannot hold are refused while one is
// captured.
func (c *calls) enter(doing string, capturable bool) error {
	if err := c.enterAnyhow(doing); err != nil {
		return err
	}
	var err error
	switch {
	case c.closed:
		err = fmt.Errorf("%s: the context is closed", doing)
	case c.lost != nil:
		err = c.lost
	case c.capturing && !capturable:
		err = fmt.Errorf("%s: a graph is being captured, which can hold only launches and copies", doing)
		c.broken = err
	}
	if err != nil {
		c.leave()
	}
	return err
}

// enterAnyhow begins a call that is good in every state.
func (c *calls) enterAnyhow(doing string) error {
	if !c.busy.CompareAndSwap(false, true) {
		return fmt.Errorf("%s: %w", doing, errConcurrent)
	}
	return nil
}

func (c *calls) leave() { c.busy.Store(false) }

// pageable refuses a copy between a graph and memory that is not pinned.
func (c *calls) pageable(doing string) error {
	c.broken = fmt.Errorf("%s: a graph can only use pinned memory (AllocHost): it reads it anew at each launch", doing)
	return c.broken
}
