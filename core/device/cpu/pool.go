package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"

	"pgrlab/core/device"
)

// Lanes is the fixed number of parts that batches are split into.
const Lanes = device.Lanes

const (
	// patience is how long a helper looks for new work before it goes to sleep, in rounds of
	// spinning; about 100 µs. Updates follow each other within that time; a paused lab uses no
	// core.
	patience = 1 << 16
	// yieldEvery is the number of rounds of spinning until a worker yields to other goroutines.
	// Another thread often picks up a goroutine that yields, which costs more than the wait at most
	// barriers: with rare yields the two cores gain a third.
	yieldEvery = 1 << 14
	// yieldRarely replaces yieldEvery if Go may run more threads than there are workers: the other
	// goroutines then need no worker to yield, unless several pools wait at once.
	yieldRarely = 1 << 17
)

// pool is a group of workers that run a job's segments in lockstep: the caller
// of run and its helpers.
//
// # Why workers take shares
//
// A worker takes a certain share first, so that what the share leaves in the cache is available to
// the worker in the next segment. But no worker owns a share: the first free worker takes what is
// left of the open segment. On a busy machine, where a helper's thread may not run for
// milliseconds, the caller takes all shares and nothing waits for the helper, unless the helper
// lost its core in the middle of a share.
type pool struct {
	workers int
	mu      sync.Mutex // one job at a time

	job      atomic.Pointer[job]
	state    atomic.Uint64 // progress of the current job, packed by pack
	parts    atomic.Int64  // of its lanes; set, like job, only while nothing runs
	finished atomic.Uint64 // number of shares that the current job has completed
	taken    []taken       // indexed by the share's place
	number   uint64        // number of the current job, guarded by mu
	helpers  []*helper
}

// taken is the last state in which a share was taken. It increases, as states do, so a worker that
// is behind takes nothing.
type taken struct {
	state atomic.Uint64
	_     [56]byte // a cache line of its own
}

type helper struct {
	place  int // place of the share that it takes first
	asleep atomic.Bool
	wake   chan struct{}
}

type job struct {
	segments [][]stage
	// gate is the segment that runs only if open allows it; open is called when the segment before
	// it is complete. 0: all segments run.
	gate int
	open func() bool
	stop bool
}

// after returns the segment that follows a completed one.
func (j *job) after(segment int) int {
	next := segment + 1
	if next == len(j.segments) || j.gate > 0 && next == j.gate && !j.open() {
		return over
	}
	return next
}

// pack puts the number of a run and its open segment into one word, so that one comparison checks
// both.
func pack(run uint64, segment int) uint64 { return run<<24 | uint64(segment) }

// over is the segment after a job's last: a state in which nothing can be taken.
const over = 1<<24 - 1

func unpack(state uint64) (run uint64, segment int) { return state >> 24, int(state & over) }

// newPool starts workers for jobs whose lanes are cut into at least the given number of parts.
func newPool(workers, parts int) *pool {
	p := &pool{workers: workers}
	p.taken = make([]taken, Lanes*max(parts, p.mostParts()))
	for i := 1; i < p.workers; i++ {
		h := &helper{place: i, wake: make(chan struct{}, 1)}
		p.helpers = append(p.helpers, h)
		go p.help(h)
	}
	return p
}

// mostParts returns the number of parts that lanes are cut into so that every worker has equally
// much to do.
func (p *pool) mostParts() int {
	if p.workers > Lanes && p.workers%Lanes != 0 {
		return p.workers
	}
	return max(1, p.workers/Lanes)
}

// run executes a job, with lanes cut into the given number of parts, on all workers that find a
// share. If the pool is in use, the caller runs the job alone.
func (p *pool) run(j *job, parts int) {
	if !p.mu.TryLock() {
		j.alone()
		return
	}
	defer p.mu.Unlock()
	if len(p.helpers) == 0 {
		j.alone()
		return
	}
	p.work(j, p.post(j, parts), 0, parts)
}

// alone executes segments lane by lane, with the same numbers.
func (j *job) alone() {
	for at := 0; at != over; at = j.after(at) {
		segment := j.segments[at]
		for _, lane := range lanes() {
			for i := range segment {
				segment[i].run(lane)
			}
		}
	}
}

// post opens a job's first segment and wakes the sleeping helpers that have a share.
func (p *pool) post(j *job, parts int) (run uint64) {
	p.number++
	p.finished.Store(0)
	p.parts.Store(int64(parts))
	p.job.Store(j)
	p.state.Store(pack(p.number, 0))
	for _, h := range p.helpers {
		if (h.place < Lanes*parts || j.stop) && h.asleep.Load() {
			select {
			case h.wake <- struct{}{}:
			default:
			}
		}
	}
	return p.number
}

// work takes shares of a run, the worker's own first if possible, until all segments are done.
func (p *pool) work(j *job, run uint64, own, parts int) {
	shares := Lanes * parts
	for {
		state := p.state.Load()
		now, segment := unpack(state)
		if now != run || segment == over {
			return
		}
		for i := range shares {
			place := own + i
			if place >= shares {
				place -= shares
			}
			if !p.take(place, state) {
				continue
			}
			s := share{lane: place % Lanes, part: place / Lanes, parts: parts}
			for k := range j.segments[segment] {
				j.segments[segment][k].run(s)
			}
			// The worker that completes a segment opens the next: this is the barrier.
			if p.finished.Add(1) == uint64((segment+1)*shares) {
				p.state.Store(pack(run, j.after(segment)))
			}
		}
		for spins := 1; p.state.Load() == state; spins++ {
			p.pause(spins)
		}
	}
}

// take reports whether the caller has obtained a share of the segment that is open in the given
// state.
func (p *pool) take(place int, state uint64) bool {
	t := &p.taken[place].state
	last := t.Load()
	return last < state && t.CompareAndSwap(last, state)
}

func (p *pool) help(h *helper) {
	runtime.LockOSThread() // as task.run does
	var done uint64        // the run that this helper saw last
	for spins := 1; ; spins++ {
		if run, _ := unpack(p.state.Load()); run != done {
			// Job and parts belong to this run or, if it is over, to a later one, in which work
			// finds nothing to take.
			j, parts := p.job.Load(), int(p.parts.Load())
			if j.stop {
				return
			}
			done = run
			if h.place < Lanes*parts {
				p.work(j, run, h.place, parts)
				spins = 0
			}
			continue
		}
		if spins < patience {
			p.pause(spins)
			continue
		}
		h.asleep.Store(true)
		if run, _ := unpack(p.state.Load()); run == done { // nothing arrived in between
			<-h.wake
		}
		h.asleep.Store(false)
		spins = 0
	}
}

// close ends the helpers.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.helpers) > 0 {
		p.post(&job{stop: true}, 1)
		p.helpers = nil
	}
}

// pause waits a moment. It is an ordinary function, which Go can preempt, and yields to other
// goroutines now and then.
//
//go:noinline
func (p *pool) pause(spins int) {
	if spins%yieldEvery == 0 && (spins%yieldRarely == 0 || runtime.GOMAXPROCS(0) <= p.workers) {
		runtime.Gosched()
	}
}
