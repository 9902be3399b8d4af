package cpu

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"pgrlab/core/device"
)

// Lanes is the fixed number of parts that batches are split into.
const Lanes = device.Lanes

const (
	// patience is how long a helper looks for new work before it goes to sleep, in
	// rounds of spinning; some 100 µs. Updates follow each other within that time,
	// a paused lab uses no core.
	patience = 1 << 16
	// yieldEvery is how many rounds of spinning pass until a worker gives way to
	// other goroutines. A goroutine that gives way is taken up by another thread as
	// like as not, which costs more than the wait at most barriers: the two cores
	// gain a third when it is rare.
	yieldEvery = 1 << 14
	// yieldRarely is the same where Go may run more threads than workers: then
	// others need no worker to give way, unless several pools wait at once.
	yieldRarely = 1 << 17
)

// pool is a group of workers that run a job's segments in lockstep: the caller
// of run and its helpers.
//
// # Why workers take lanes
//
// A worker has a lane that it takes first, so that what a lane leaves in the cache
// is there for it in the next segment, but no worker owns one: the first that is free
// takes what is left of the open segment. On a busy machine, where a helper's
// thread may not run for milliseconds, the caller takes both lanes and nothing waits
// for the helper, unless it lost its core in the middle of a lane.
type pool struct {
	workers int
	mu      sync.Mutex // one job at a time

	job      atomic.Pointer[job]
	state    atomic.Uint64 // progress of the present job, packed by pack
	finished atomic.Uint64 // lanes that the present job has completed
	number   uint64        // number of the present job, under mu
	helpers  []*helper
}

type helper struct {
	lane   int // that it takes first
	asleep atomic.Bool
	wake   chan struct{}
}

type job struct {
	segments [][]stage
	// gate is the segment that runs only if open, called when the one before is
	// complete, allows it; 0: all run.
	gate int
	open func() bool
	stop bool
}

// after is the segment that follows one that is complete.
func (j *job) after(segment int) int {
	next := segment + 1
	if next == len(j.segments) || j.gate > 0 && next == j.gate && !j.open() {
		return over
	}
	return next
}

// pack puts the number of a run, its open segment and which of that segment's
// lanes are taken, a bit each, into one word, so that one comparison proves all
// three.
func pack(run uint64, segment, taken int) uint64 {
	return run<<32 | uint64(segment)<<8 | uint64(taken)
}

// allTaken are all lanes.
const allTaken = 1<<Lanes - 1

// over is the segment after a job's last: a state in which no lane can be taken.
const over = 1<<24 - 1

func unpack(state uint64) (run uint64, segment, taken int) {
	return state >> 32, int(state >> 8 & (1<<24 - 1)), int(state & 255)
}

func newPool(workers int) *pool {
	p := &pool{workers: min(workers, Lanes)}
	for i := 1; i < p.workers; i++ {
		h := &helper{lane: i, wake: make(chan struct{}, 1)}
		p.helpers = append(p.helpers, h)
		go p.help(h)
	}
	return p
}

// run executes a job on all workers, or by the caller alone where the pool is in
// use.
func (p *pool) run(j *job) {
	if !p.mu.TryLock() {
		j.alone()
		return
	}
	defer p.mu.Unlock()
	if len(p.helpers) == 0 {
		j.alone()
		return
	}
	p.work(j, p.post(j), 0)
}

// alone executes segments lane by lane; the numbers are the same.
func (j *job) alone() {
	for at := 0; at != over; at = j.after(at) {
		segment := j.segments[at]
		for lane := range Lanes {
			for i := range segment {
				segment[i].run(lane)
			}
		}
	}
}

// post opens a job's first segment and wakes who sleeps.
func (p *pool) post(j *job) (run uint64) {
	p.number = (p.number + 1) & (1<<32 - 1)
	p.finished.Store(0)
	p.job.Store(j)
	p.state.Store(pack(p.number, 0, 0))
	for _, h := range p.helpers {
		if h.asleep.Load() {
			select {
			case h.wake <- struct{}{}:
			default:
			}
		}
	}
	return p.number
}

// work takes lanes of a run, if it can the worker's own, until all its segments are
// done.
func (p *pool) work(j *job, run uint64, own int) {
	for spins := 1; ; spins++ {
		state := p.state.Load()
		now, segment, taken := unpack(state)
		if now != run || segment == over {
			return
		}
		if taken == allTaken {
			pause(spins)
			continue
		}
		lane := own
		if taken>>own&1 != 0 {
			lane = bits.TrailingZeros(^uint(taken))
		}
		if !p.state.CompareAndSwap(state, state|1<<lane) {
			continue
		}
		for i := range j.segments[segment] {
			j.segments[segment][i].run(lane)
		}
		// The worker that completes a segment opens the next: this is the barrier.
		if p.finished.Add(1) == uint64((segment+1)*Lanes) {
			p.state.Store(pack(run, j.after(segment), 0))
		}
		spins = 0
	}
}

func (p *pool) help(h *helper) {
	runtime.LockOSThread() // as a task does
	var done uint64        // the run that this helper saw last
	for spins := 1; ; spins++ {
		if run, _, _ := unpack(p.state.Load()); run != done {
			// The job belongs to this run, or, where that one is over, to a later
			// one, in which work finds nothing to take.
			j := p.job.Load()
			if j.stop {
				return
			}
			p.work(j, run, h.lane)
			done, spins = run, 0
			continue
		}
		if spins < patience {
			pause(spins)
			continue
		}
		h.asleep.Store(true)
		if run, _, _ := unpack(p.state.Load()); run == done { // nothing came in between
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
		p.post(&job{stop: true})
		p.helpers = nil
	}
}

// pause waits a moment. It is an ordinary function, where Go can preempt, and
// gives way to other goroutines now and then.
//
//go:noinline
func pause(spins int) {
	if spins%yieldEvery == 0 && (spins%yieldRarely == 0 || runtime.GOMAXPROCS(0) <= Lanes) {
		runtime.Gosched()
	}
}
