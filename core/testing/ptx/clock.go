package ptx

// An agent is who touches shared memory: a warp of the block, by its index, or the bulk copies of an
// mbarrier, from firstCopier on. More mbarriers than copiers share them, so that some races are missed.
type agent = uint8

const (
	firstCopier = maxThreads / lanes
	copiers     = 32
	agents      = firstCopier + copiers
)

// A clock holds, for each agent, up to which of its stamps its accesses are ordered before what comes
// next. Stamps start at 1 and grow whenever the agent hands its accesses on.
type clock [agents]uint32

// join adds what another clock orders.
func (c *clock) join(other *clock) {
	for i := range c {
		c[i] = max(c[i], other[i])
	}
}

// handOn adds to a clock all that the warp has done and seen so far.
func (w *warp) handOn(to *clock) {
	if w.block.shadow == nil {
		return
	}
	to.join(&w.clock)
	to[w.index] = max(to[w.index], w.now)
	w.now++
}

// takeOver orders what a clock holds before all that the warp does from now on.
func (w *warp) takeOver(from *clock) {
	if w.block.shadow != nil {
		w.clock.join(from)
	}
}

// ordered says whether an access is ordered before a present one of the warp: through a barrier or an
// mbarrier or, within the warp, a bar.warp.sync. inner is the number of these before the access.
func (w *warp) ordered(by agent, stamp, inner uint32) bool {
	return stamp <= w.clock[by] || int(by) == w.index && inner < w.inner
}
