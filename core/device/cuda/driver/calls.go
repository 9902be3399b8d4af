package driver

import (
	"fmt"
	"sync/atomic"
)

// Calls guards the calls of a context: only one call at a time, none after the context is closed or
// lost, and during the capture of a graph only calls that a graph can contain. Every implementation
// of Context embeds a Calls.
type Calls struct {
	busy      atomic.Bool // a call is under way
	Closed    bool
	Lost      *LostDevice
	Capturing bool
	Broken    error // a call during the capture that a graph cannot contain
}

// Enter begins a call. During a capture it refuses calls that a graph cannot contain.
func (c *Calls) Enter(doing string, capturable bool) error {
	if err := c.EnterAnyhow(doing); err != nil {
		return err
	}
	var err error
	switch {
	case c.Closed:
		err = fmt.Errorf("%s: the context is closed", doing)
	case c.Lost != nil:
		err = c.Lost
	case c.Capturing && !capturable:
		err = fmt.Errorf("%s: a graph is being captured, which can hold only launches and copies", doing)
		c.Broken = err
	}
	if err != nil {
		c.Leave()
	}
	return err
}

// EnterAnyhow begins a call that is allowed in every state.
func (c *Calls) EnterAnyhow(doing string) error {
	if !c.busy.CompareAndSwap(false, true) {
		return fmt.Errorf("%s: %w", doing, ErrConcurrent)
	}
	return nil
}

// Leave ends a call.
func (c *Calls) Leave() { c.busy.Store(false) }

// Pageable refuses a copy between a graph and memory that is not pinned.
func (c *Calls) Pageable(doing string) error {
	c.Broken = fmt.Errorf("%s: a graph can only use pinned memory (AllocHost): it reads it again at each launch", doing)
	return c.Broken
}
