package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Lanes is the fixed number of parts that batches are split into. It belongs to
// the numbers: another value gives other last bits.
const Lanes = 2

// How long a helper looks for new work before it goes to sleep, in rounds of
// spinning; about 100 µs. Updates follow each other within that time, a paused
// lab uses no core.
const patience = 1 << 12

// pool is a group of workers that run segments in lockstep: the caller of run
// and its helpers.
type pool struct {
	workers int
	mu      sync.Mutex // one program at a time

	job      *job
	posted   atomic.Uint64 // number of the job that was posted last
	arrived  atomic.Uint64 // barrier arrivals since the pool began
	expected uint64        // arrivals before the present job
	helpers  []*helper
}

type helper struct {
	asleep atomic.Bool
	wake   chan struct{}
}

type job struct {
	segments [][]stage
	stop     bool
}

func newPool(workers int) *pool {
	p := &pool{workers: min(workers, Lanes)}
	for i := 1; i < p.workers; i++ {
		h := &helper{wake: make(chan struct{}, 1)}
		p.helpers = append(p.helpers, h)
		go p.help(h, i)
	}
	return p
}

// run executes a job on all workers, or by the caller alone where the pool is
// in use.
func (p *pool) run(j *job) {
	if p.workers == 1 || !p.mu.TryLock() {
		alone(j.segments)
		return
	}
	defer p.mu.Unlock()
	p.post(j)
	p.work(j.segments, 0)
}

// alone executes segments lane by lane; the numbers are the same.
func alone(segments [][]stage) {
	for _, segment := range segments {
		for lane := range Lanes {
			for i := range segment {
				segment[i].run(lane)
			}
		}
	}
}

func (p *pool) post(j *job) {
	p.job = j
	p.expected = p.arrived.Load()
	p.posted.Add(1)
	for _, h := range p.helpers {
		if h.asleep.Load() {
			select {
			case h.wake <- struct{}{}:
			default:
			}
		}
	}
}

// work runs the lanes of one worker through the segments.
func (p *pool) work(segments [][]stage, worker int) {
	target := p.expected
	for _, segment := range segments {
		for lane := worker; lane < Lanes; lane += p.workers {
			for i := range segment {
				segment[i].run(lane)
			}
		}
		target += uint64(p.workers)
		p.arrived.Add(1)
		for spins := 1; p.arrived.Load() < target; spins++ {
			pause(spins)
		}
	}
}

func (p *pool) help(h *helper, worker int) {
	done := uint64(0)
	for {
		for spins := 1; p.posted.Load() == done; spins++ {
			if spins < patience {
				pause(spins)
				continue
			}
			h.asleep.Store(true)
			if p.posted.Load() == done { // nothing came between the look and the flag
				<-h.wake
			}
			h.asleep.Store(false)
			spins = 1
		}
		done++
		j := p.job
		if j.stop {
			return
		}
		p.work(j.segments, worker)
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
	p.workers = 1
}

// pause waits a moment. It is an ordinary function, where Go can preempt, and
// gives way to other goroutines now and then.
//
//go:noinline
func pause(spins int) {
	if spins%64 == 0 {
		runtime.Gosched()
	}
}
