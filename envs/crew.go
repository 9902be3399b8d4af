package envs

import (
	"runtime"
	"sync/atomic"
)

// crew divides the parts of a job between the calling goroutine and some helpers. A
// goroutine that is free takes the next part: if a helper's thread is slow to wake or its
// core is busy, the caller does more and does not wait for helpers that have not begun.
// The caller takes parts from the front and helpers from the back, so that on an idle
// machine a part stays with a core and its cache.
type crew struct {
	work    func(part int)
	parts   int
	helpers []*helper

	round atomic.Uint64 // number of the present job
	taken atomic.Uint64 // its round and how many parts are taken from either end, packed
	done  atomic.Int64  // number of its parts that are complete
	over  atomic.Bool
}

type helper struct {
	asleep atomic.Bool
	wake   chan struct{}
}

const (
	// patience is how many times a helper looks for a job before it sleeps: some
	// 200 µs, the time in which a policy chooses its actions. Waking it costs the time of
	// several steps.
	patience = 1 << 16
	// yieldEvery is after how many looks a waiting caller lets other goroutines run.
	yieldEvery = 1 << 10
)

// newCrew starts helpers for jobs of that many parts.
func newCrew(helpers, parts int, work func(part int)) *crew {
	c := &crew{work: work, parts: parts}
	for range helpers {
		h := &helper{wake: make(chan struct{}, 1)}
		c.helpers = append(c.helpers, h)
		go c.help(h)
	}
	return c
}

// run does all parts of a job and returns when they are complete.
func (c *crew) run() {
	c.done.Store(0)
	round := c.round.Load() + 1
	c.taken.Store(round << 16)
	c.round.Store(round)
	c.rouse()
	c.take(round, first)
	for looks := 1; c.done.Load() < int64(c.parts); looks++ {
		look(looks)
	}
}

// rouse wakes the helpers that sleep.
func (c *crew) rouse() {
	for _, h := range c.helpers {
		if h.asleep.Load() {
			select {
			case h.wake <- struct{}{}:
			default:
			}
		}
	}
}

// end is the end of the job from which a goroutine takes parts.
type end uint

const (
	first end = iota
	last
)

// take does parts of a round's job until none is left.
func (c *crew) take(round uint64, from end) {
	for {
		taken := c.taken.Load()
		low, high := int(taken&255), int(taken>>8&255)
		if taken>>16 != round || low+high == c.parts {
			return
		}
		part, more := low, taken+1
		if from == last {
			part, more = c.parts-1-high, taken+1<<8
		}
		if c.taken.CompareAndSwap(taken, more) {
			c.work(part)
			c.done.Add(1)
		}
	}
}

func (c *crew) help(h *helper) {
	var seen uint64
	for looks := 1; !c.over.Load(); looks++ {
		if round := c.round.Load(); round != seen {
			c.take(round, last)
			seen, looks = round, 0
			continue
		}
		if looks < patience {
			look(0)
			continue
		}
		h.asleep.Store(true)
		if c.round.Load() == seen && !c.over.Load() { // no new job meanwhile
			<-h.wake
		}
		h.asleep.Store(false)
		looks = 0
	}
}

// close ends the helpers.
func (c *crew) close() {
	c.over.Store(true)
	c.rouse()
}

// look waits a moment. It is not inlined, so that Go can preempt it.
//
//go:noinline
func look(looks int) {
	if looks%yieldEvery == yieldEvery-1 {
		runtime.Gosched()
	}
}
