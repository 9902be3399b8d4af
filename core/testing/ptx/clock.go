package ptx

// maxWarps is the most warps of a block.
const maxWarps = maxThreads / lanes

// A clock holds, for each warp of a block, up to which of its stamps its accesses are ordered before
// what comes next. Stamps start at 1 and grow whenever the warp hands its accesses on.
type clock [maxWarps]uint32

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

// ordered says whether an access is ordered before a present one of the warp: through a barrier or,
// within the warp, a bar.warp.sync. inner is the number of these before the access.
func (w *warp) ordered(by uint8, stamp, inner uint32) bool {
	return stamp <= w.clock[by] || int(by) == w.index && inner < w.inner
}
